/**
 * Follows a tree from its first event until it is at rest, and shows what happens.
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
import { createTreeModel, openRuns, treeAtRest, type TreeModel } from "../tree/tree-model.ts";

export interface Following {
  readonly model: TreeModel;
  readonly channel: Channel;
  /** The tree's time now. */
  now(): number;
  /** Reads the tree's events until it is at rest and all that was said is shown, or until the store is closed. */
  follow(errand: Errand, tree: string): Promise<void>;
  /** What the task came to; null when nothing was said. */
  answer(): string | null;
}

interface Expected {
  readonly id: string;
  readonly final: boolean;
}

export function createFollowing(world: World, display: Display): Following {
  const model = createTreeModel();
  const texts = new Map<string, { readonly text: string; readonly repeated: boolean }>();
  let expected: Expected[] = [];
  const answer: string[] = [];
  let lastSaid: string | null = null;
  let drained = false;
  /** The greatest lead of the tree's time over this machine's monotonic one: an event is never seen before it happened. */
  let lead = Number.NEGATIVE_INFINITY;
  const allShown = Promise.withResolvers<void>();

  const now = (): number => Math.max(model.at, lead + world.monotonic());

  function show(): void {
    for (let next = expected[0]; next !== undefined; next = expected[0]) {
      const given = texts.get(next.id);
      if (given === undefined) return;
      expected = expected.slice(1);
      const root = model.agents.get(0);
      const said: Said = { id: next.id, agent: root?.id ?? "", name: root?.name ?? "", ...given };
      lastSaid = given.text;
      if (next.final) answer.push(given.text);
      display.said(said, next.final);
    }
    if (treeAtRest(model)) allShown.resolve();
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
    async follow(errand, tree) {
      for await (const event of errand.events(tree)) {
        take(event);
        show();
        if (treeAtRest(model)) break;
      }
      if (expected.length > 0) await allShown.promise;
    },
    answer: () => (answer.length > 0 ? answer.join("\n\n") : lastSaid),
  };
}

/** The turn of the user's message has ended, and no other has begun. */
function rootTurnDone(changes: readonly Change[], model: TreeModel): boolean {
  const root = model.agents.get(0);
  return root?.turn === false && changes.some((change) => change.type === "turn-ended" && change.agent === root.id);
}
