/**
 * Follows a tree from its first event until nothing in it is under way, and shows what happens. Rows up to `past` are
 * read, but not shown.
 *
 * Invariants:
 *  1. A message to the user is shown when its event was read and the channel has delivered its text, in the order of
 *     the events.
 *  2. The answer is what the root's turns ended with, in order, with messages of children that were relayed (rule D13).
 */

import type { Channel } from "../../contracts/channel.ts";
import type { World } from "../../contracts/world.ts";
import { stepKey } from "../../core/values/ids.ts";
import { answerOf, type ChannelMessageKind, channelMessageKind } from "../../view/channel-message.ts";
import type { Errand, TreeEvent } from "../../runtime/errand.ts";
import type { Display, UserMessage } from "../display/display.ts";
import type { ReadableEvent } from "../../view/readable-event.ts";
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
  /** Called with each event in order. Until it returns true, a tree with nothing under way has not begun yet. */
  readonly begun: (event: TreeEvent) => boolean;
  /** True: no user can answer here, so following also ends where the tree waits for answers. */
  readonly unattended: boolean;
}

interface Expected {
  readonly id: string;
  readonly kind: ChannelMessageKind;
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
  const past = new Map<string, ChannelMessageKind>();
  const messages: UserMessage[] = [];
  let drained = false;
  let answered = false;
  let ended = false;
  let arrived = false;
  /** How far the tree's time is ahead of this machine's monotonic time: the greatest lead of any event. */
  let lead = Number.NEGATIVE_INFINITY;
  const allShown = Promise.withResolvers<void>();
  const parkedWaiters: (() => void)[] = [];

  const now = (): number => Math.max(model.at, lead + world.monotonic());

  function show(): void {
    if (arrived) showPast();
    for (let next = expected[0]; next !== undefined; next = expected[0]) {
      const delivered = texts.get(next.id);
      if (delivered === undefined) return;
      expected = expected.slice(1);
      showMessage(next, delivered);
    }
    if (ended) allShown.resolve();
    if (arrived) onShown();
  }

  /** Shows messages of the past that the user has not received. */
  function showPast(): void {
    for (const [id, delivered] of texts) {
      const kind = past.get(id);
      if (kind !== undefined) showMessage({ id, kind, final: false }, delivered);
    }
  }

  function showMessage({ id, kind, final }: Expected, delivered: Delivered): void {
    texts.delete(id);
    const root = model.agents.get(0);
    const message: UserMessage = { id, agent: root?.id ?? "", name: root?.name ?? "", kind, ...delivered };
    messages.push(message);
    display.message(message, final);
  }

  function take(event: TreeEvent): void {
    lead = Math.max(lead, event.at - world.monotonic());
    const changes = foldEvent(model, event);
    const final = treeAtRest(model);
    for (const [id, kind] of sentIn(event)) expected.push({ id, kind, final });
    display.changed(model, changes, now);
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
      for await (const event of errand.journal(tree)) {
        if (event.seq > lastPast) take(event);
        else {
          foldEvent(model, event);
          for (const [id, kind] of sentIn(event)) past.set(id, kind);
        }
        arrived ||= event.seq >= lastPast;
        if (event.seq === lastPast) display.changed(model, [], now);
        began ||= begun(event);
        show();
        if (treeParked(model)) for (const resolve of parkedWaiters.splice(0)) resolve();
        if (began && (treeIdle(model) || (unattended && treeParked(model)))) break;
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

/** The ids of the messages for the user that a step sent. */
function sentIn({ tree, seq, facts, texts, late }: TreeEvent): [id: string, kind: ChannelMessageKind][] {
  if (late !== null) return [];
  return facts.flatMap((fact) =>
    fact.type === "channel-sent" ? [[`${tree}/${stepKey(seq, fact.n)}`, channelMessageKind(fact, texts[0])]] : [],
  );
}

function rootTurnEnded(changes: readonly ReadableEvent[], model: TreeModel): boolean {
  const root = model.agents.get(0)?.id;
  return changes.some((change) => change.type === "turn-ended" && change.agent === root);
}
