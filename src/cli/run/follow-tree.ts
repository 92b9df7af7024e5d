/**
 * Follows a tree from its first event until nothing in it is under way, and shows what happens. Of a tree that has a past, the past is
 * read and not shown again.
 *
 * Invariants:
 *  1. A message to the user is shown once its event is there and the channel has brought its text, in the order of the events.
 *  2. What was said in the step that brought the tree to rest is the answer; if that step said nothing, the last thing said is.
 */

import type { Channel } from "../../contracts/channel.ts";
import type { World } from "../../contracts/world.ts";
import { stepKey } from "../../core/ids.ts";
import type { Errand, TreeEvent } from "../../runtime/errand.ts";
import type { Display, Said } from "../display/display.ts";
import type { Change } from "../tree/change.ts";
import { foldEvent } from "../tree/fold-event.ts";
import { createTreeModel, openRuns, treeAtRest, treeIdle, treeParked, type TreeModel } from "../tree/tree-model.ts";

export interface Following {
  readonly model: TreeModel;
  readonly channel: Channel;
  /** The tree's time now. */
  now(): number;
  /** Reads the tree's events until it is at rest and all that was said is shown, or until the store is closed. */
  follow(errand: Errand, target: FollowTarget): Promise<void>;
  /** True once a turn of the root has ended that is not of the past. */
  answered(): boolean;
  /** What the task came to; null when nothing was said. */
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
  readonly final: boolean;
}

/** `allSaid` is called, from the end of the past on, whenever there is nothing left to show of what was said so far. */
export function createFollowing(world: World, display: Display, allSaid: () => void = () => undefined): Following {
  const model = createTreeModel();
  const texts = new Map<string, Pick<Said, "text" | "repeated">>();
  let expected: Expected[] = [];
  /** Questions: they are put to the user by whoever can ask, not said. */
  const asked = new Set<string>();
  const answer: string[] = [];
  let lastSaid: string | null = null;
  let drained = false;
  let answered = false;
  let ended = false;
  let arrived = false;
  /** The greatest lead of the tree's time over this machine's monotonic one: an event is never seen before it happened. */
  let lead = Number.NEGATIVE_INFINITY;
  const allShown = Promise.withResolvers<void>();

  const now = (): number => Math.max(model.at, lead + world.monotonic());

  function show(): void {
    for (let next = expected[0]; next !== undefined; next = expected[0]) {
      const given = texts.get(next.id);
      if (given === undefined) return;
      expected = expected.slice(1);
      texts.delete(next.id);
      say(next.id, given, next.final);
    }
    if (ended) allShown.resolve();
    if (arrived) allSaid();
  }

  function say(id: string, given: Pick<Said, "text" | "repeated">, final: boolean): void {
    const root = model.agents.get(0);
    lastSaid = given.text;
    if (final) answer.push(given.text);
    display.said({ id, agent: root?.id ?? "", name: root?.name ?? "", ...given }, final);
  }

  /** The past is read: what was said in it and never reached anybody is said now. */
  function arrive(past: number): void {
    for (const [id, given] of texts) {
      if (seqOf(id) > past) continue;
      texts.delete(id);
      if (!asked.has(id)) say(id, given, false);
    }
    display.changed(model, [], now);
  }

  function take(event: TreeEvent): void {
    lead = Math.max(lead, event.at - world.monotonic());
    const changes = foldEvent(model, event);
    const final = treeAtRest(model);
    if (event.late === null) {
      for (const fact of event.facts) {
        if (fact.type === "channel-sent") expected.push({ id: `${event.tree}/${stepKey(event.seq, fact.n)}`, final });
      }
    }
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
    async follow(errand, { tree, past, begun, unattended }) {
      let began = false;
      for await (const event of errand.events(tree)) {
        for (const fact of event.facts)
          if (fact.type === "question-asked") asked.add(`${event.tree}/${stepKey(event.seq, fact.n)}`);
        if (event.seq > past) take(event);
        else foldEvent(model, event);
        if (event.seq === past) arrive(past);
        arrived ||= event.seq >= past;
        began ||= begun(event);
        show();
        if (began && (treeIdle(model) || (unattended && treeParked(model)))) break;
      }
      ended = true;
      if (expected.length > 0) await allShown.promise;
    },
    answered: () => answered,
    answer: () => (answer.length > 0 ? answer.join("\n\n") : lastSaid),
  };
}

/** The row of a message's event, from its id. */
function seqOf(id: string): number {
  return Number.parseInt(id.slice(id.lastIndexOf("/") + 1), 10);
}

function rootTurnEnded(changes: readonly Change[], model: TreeModel): boolean {
  const root = model.agents.get(0)?.id;
  return changes.some((change) => change.type === "turn-ended" && change.agent === root);
}

/** The turn of the user's message has ended, and no other has begun. */
function rootTurnDone(changes: readonly Change[], model: TreeModel): boolean {
  return model.agents.get(0)?.turn === false && rootTurnEnded(changes, model);
}
