/**
 * Follows a tree from its first event until it is idle, and shows what happens. Rows up to `past` are
 * read, but not shown.
 *
 * Invariants:
 *  1. A message to the user is shown when its event was read and the channel has delivered its text, in the order of
 *     the events.
 *  2. The answer is what the root's turns ended with, in order, with messages of children that were relayed (rule D13).
 */

import type { Channel } from "../../contracts/channel.ts";
import type { World } from "../../contracts/world.ts";
import { answerOf } from "../../view/channel-message.ts";
import type { Errand, TreeEvent } from "../../runtime/errand.ts";
import type { Display, UserMessage } from "../display/display.ts";
import { placedEvents, type PlacedEvent } from "../../view/readable-event.ts";
import { foldEvent } from "../../view/fold-event.ts";
import { createTreeModel, openRuns, treeAtRest, treeIdle, treeParked, type TreeModel } from "../../view/tree-model.ts";

export interface Following {
  readonly model: TreeModel;
  readonly channel: Channel;
  /** The current time of the tree. */
  now(): number;
  /** Reads the tree's events until it is at rest and all its messages are shown, or until the store is closed. */
  follow(errand: Errand, target: FollowTarget): Promise<void>;
  /** Resolves when only an answer of a user can move the tree on. */
  parked(): Promise<void>;
  /** True if a turn of the root has ended since the past. */
  answered(): boolean;
  /** The answer so far; null if there is none. */
  answer(): string | null;
}

export interface FollowTarget {
  readonly tree: string;
  /** The last row of the past. */
  readonly past: number;
  /** Called with each event in order. Until it returns true, an idle tree has not begun yet. */
  readonly begun: (event: TreeEvent) => boolean;
  /** True: no user can answer here, so following also ends where the tree waits for answers. */
  readonly unattended: boolean;
}

type MessageEvent = Extract<PlacedEvent, { type: "message" }>;

interface Expected {
  readonly sent: MessageEvent;
  readonly final: boolean;
}

/** The part of a message that the channel delivers. */
type Delivered = Pick<UserMessage, "text" | "repeated">;

/** `onShown` is called, from the end of the past on, whenever all messages so far are shown. */
export function createFollowing(world: World, display: Display, onShown: () => void = () => undefined): Following {
  const model = createTreeModel();
  const texts = new Map<string, Delivered>();
  let expected: Expected[] = [];
  /** Messages that were sent in the past. The channel delivers those that no process took then. */
  const past = new Map<string, MessageEvent>();
  /** What agents said before the event that names them was read, by their ids. */
  const early = new Map<string, string>();
  const messages: UserMessage[] = [];
  let drained = false;
  let answered = false;
  let ended = false;
  let arrived = false;
  let rests = false;
  /** The tree's time minus this machine's monotonic time: the greatest difference of any event. */
  let lead = Number.NEGATIVE_INFINITY;
  const allShown = Promise.withResolvers<void>();
  const parkedWaiters: (() => void)[] = [];

  const now = (): number => Math.max(model.at, lead + world.monotonic());

  function show(): void {
    if (arrived) showPast();
    for (let next = expected[0]; next !== undefined; next = expected[0]) {
      const delivered = texts.get(next.sent.id);
      if (delivered === undefined) return;
      expected = expected.slice(1);
      showMessage(next, delivered);
    }
    if (rests) display.rest(model.tree);
    rests = false;
    if (ended) allShown.resolve();
    if (arrived) onShown();
  }

  /** Shows messages of the past that the user has not received. */
  function showPast(): void {
    for (const [id, delivered] of texts) {
      const sent = past.get(id);
      if (sent !== undefined) showMessage({ sent, final: false }, delivered);
    }
  }

  function showMessage({ sent: { type: _, ...sent }, final }: Expected, delivered: Delivered): void {
    texts.delete(sent.id);
    const message: UserMessage = { ...sent, ...delivered };
    messages.push(message);
    display.message(message, final);
  }

  /** Shows what an agent says, under its name. */
  function showText(agent: string, text: string): void {
    const named = [...model.agents.values()].find(({ id }) => id === agent);
    if (named === undefined) early.set(agent, (early.get(agent) ?? "") + text);
    else display.text({ type: "text", agent, name: named.name, text });
  }

  function take(event: TreeEvent): void {
    lead = Math.max(lead, event.at - world.monotonic());
    const before = treeIdle(model);
    const changes = placedEvents(event.seq, foldEvent(model, event));
    const final = treeAtRest(model);
    expected.push(...messagesIn(changes).map((sent) => ({ sent, final })));
    display.changed(model, changes, now);
    for (const [agent, text] of early) {
      early.delete(agent);
      showText(agent, text);
    }
    rests ||= final && !before;
    answered ||= rootTurnEnded(changes, model);
    // The turn of the user's message has ended, no other has begun, and children are still at work.
    if (!drained && !final && rootTurnEnded(changes, model) && model.agents.get(0)?.turn === false) {
      drained = true;
      display.draining(openRuns(model).length);
    }
  }

  return {
    model,
    now,
    channel: {
      async deliver({ id, text, repeated }) {
        texts.set(id, { text, repeated });
        show();
      },
    },
    async follow(errand, { tree, past: lastPast, begun, unattended }) {
      let began = false;
      const unlisten = errand.onText((delta) => {
        if (delta.tree === tree) showText(delta.agent, delta.text);
      });
      try {
        for await (const event of errand.journal(tree)) {
          if (event.seq > lastPast) take(event);
          else {
            const events = placedEvents(event.seq, foldEvent(model, event));
            for (const sent of messagesIn(events)) past.set(sent.id, sent);
          }
          arrived ||= event.seq >= lastPast;
          if (event.seq === lastPast) display.changed(model, [], now);
          began ||= begun(event);
          show();
          if (treeParked(model)) for (const resolve of parkedWaiters.splice(0)) resolve();
          if (began && (treeIdle(model) || (unattended && treeParked(model)))) break;
        }
      } finally {
        unlisten();
      }
      ended = true;
      if (expected.length > 0) await allShown.promise;
    },
    parked: () =>
      new Promise((resolve) => {
        if (treeParked(model)) resolve();
        else parkedWaiters.push(resolve);
      }),
    answered: () => answered,
    answer: () => answerOf(messages),
  };
}

function messagesIn(events: readonly PlacedEvent[]): MessageEvent[] {
  return events.filter((event) => event.type === "message");
}

function rootTurnEnded(changes: readonly PlacedEvent[], model: TreeModel): boolean {
  const root = model.agents.get(0)?.id;
  return changes.some((change) => change.type === "turn-ended" && change.agent === root);
}
