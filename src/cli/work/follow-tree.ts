/**
 * Follows a tree from its first event until nothing in it is under way, and shows what happens. Of a tree that has a past, the past is
 * read and not shown again.
 *
 * Invariants:
 *  1. A message to the user is shown once its event is there and the channel has brought its text, in the order of the events.
 *  2. The answer is what the root's turns ended with, in order, with messages of children that were relayed (rule D13).
 */

import type { Channel } from "../../contracts/channel.ts";
import type { World } from "../../contracts/world.ts";
import { stepKey } from "../../core/values/ids.ts";
import { answerOf, type SpokenKind, spokenKind } from "../../core/journal/spoken.ts";
import type { Errand, TreeEvent } from "../../runtime/errand.ts";
import type { Display, UserMessage } from "../display/display.ts";
import type { ReadableEvent } from "../../view/readable-event.ts";
import { foldEvent } from "../../view/fold-event.ts";
import { createTreeModel, openRuns, treeAtRest, treeIdle, treeParked, type TreeModel } from "../../view/tree-model.ts";

export interface Following {
  readonly model: TreeModel;
  readonly channel: Channel;
  /** The tree's time now. */
  now(): number;
  /** Reads the tree's events until it is at rest and all that was said is shown, or until the store is closed. */
  follow(errand: Errand, target: FollowTarget): Promise<void>;
  /** Resolves when the tree waits for nothing but answers of a user. */
  parked(): Promise<void>;
  /** True once a turn of the root has ended that is not of the past. */
  answered(): boolean;
  /** The answer so far; null when nothing of it was said. */
  answer(): string | null;
}

export interface FollowTarget {
  readonly tree: string;
  /** The last row of the past. */
  readonly past: number;
  /** Called with each event in order; before it was true, a tree with nothing under way has not begun. */
  readonly begun: (event: TreeEvent) => boolean;
  /** True: there is nobody to ask, so that the end is also where the tree waits for answers. */
  readonly unattended: boolean;
}

interface Expected {
  readonly id: string;
  readonly kind: SpokenKind;
  readonly final: boolean;
}

/** What the channel brings of a message. */
type Given = Pick<UserMessage, "text" | "repeated">;

/** `allUserMessage` is called, from the end of the past on, whenever there is nothing left to show of what was said so far. */
export function createFollowing(
  world: World,
  display: Display,
  allUserMessage: () => void = () => undefined,
): Following {
  const model = createTreeModel();
  const texts = new Map<string, Given>();
  let expected: Expected[] = [];
  /** What was sent in the past. The channel brings what nobody took then. Questions are not in it: they are asked, not said. */
  const past = new Map<string, SpokenKind>();
  const messages: UserMessage[] = [];
  let drained = false;
  let answered = false;
  let ended = false;
  let arrived = false;
  /** The greatest lead of the tree's time over this machine's monotonic one: an event is never seen before it happened. */
  let lead = Number.NEGATIVE_INFINITY;
  const allShown = Promise.withResolvers<void>();
  const parkedWaiters: (() => void)[] = [];

  const now = (): number => Math.max(model.at, lead + world.monotonic());

  function show(): void {
    if (arrived) showPast();
    for (let next = expected[0]; next !== undefined; next = expected[0]) {
      const given = texts.get(next.id);
      if (given === undefined) return;
      expected = expected.slice(1);
      texts.delete(next.id);
      say(next, given);
    }
    if (ended) allShown.resolve();
    if (arrived) allUserMessage();
  }

  /** What was said in the past and never reached anybody is said now. */
  function showPast(): void {
    for (const [id, given] of texts) {
      const kind = past.get(id);
      if (kind === undefined) continue;
      texts.delete(id);
      say({ id, kind, final: false }, given);
    }
  }

  function say({ id, kind, final }: Expected, given: Given): void {
    const root = model.agents.get(0);
    const message: UserMessage = { id, agent: root?.id ?? "", name: root?.name ?? "", kind, ...given };
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
    if (!drained && rootTurnDone(changes, model) && !final) {
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

/** The messages for the user that a step sent, by their ids. */
function sentIn({ tree, seq, facts, texts, late }: TreeEvent): [id: string, kind: SpokenKind][] {
  if (late !== null) return [];
  return facts.flatMap((fact) =>
    fact.type === "channel-sent" ? [[`${tree}/${stepKey(seq, fact.n)}`, spokenKind(fact, texts[0])]] : [],
  );
}

function rootTurnEnded(changes: readonly ReadableEvent[], model: TreeModel): boolean {
  const root = model.agents.get(0)?.id;
  return changes.some((change) => change.type === "turn-ended" && change.agent === root);
}

/** The turn of the user's message has ended, and no other has begun. */
function rootTurnDone(changes: readonly ReadableEvent[], model: TreeModel): boolean {
  return model.agents.get(0)?.turn === false && rootTurnEnded(changes, model);
}
