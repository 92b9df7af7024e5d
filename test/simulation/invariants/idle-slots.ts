/**
 * I16 for runs: none waits for long while the process has a slot that nobody holds and its parent may have another
 * child at work. A run that waits until it is too late ends in a known way, so nothing else would tell.
 */

import { demand } from "./violation.ts";
import type { WatchedRun, WatchedTree } from "./watched-tree.ts";

export interface IdleSlots {
  /** To be called whenever something has happened, with true while all is well. */
  look(trees: Iterable<WatchedTree>, now: number, calm: boolean): void;
}

/** A slot is offered at once; the commit of the offer may have to wait for a slow disk. */
const SLACK_MS = 1_000;

export function createIdleSlots(slots: number): IdleSlots {
  /** Since when runs could have started, by the tree and their number. */
  let waiting = new Map<string, number>();
  return {
    look(trees, now, calm) {
      const all = [...trees];
      const running = all.flatMap(({ runs }) => [...runs.values()].filter(({ state }) => state === "running")).length;
      const before = waiting;
      waiting = new Map();
      if (!calm || running >= slots) return;
      for (const tree of all) {
        for (const run of tree.runs.values()) {
          if (!mayStart(tree, run)) continue;
          const key = `${tree.id}/${run.number}`;
          const since = before.get(key) ?? now;
          waiting.set(key, since);
          demand(
            "I16",
            now - since <= SLACK_MS,
            () => `run ${run.number} of ${tree.id} waits since ${since}, though ${running} of ${slots} slots are held`,
          );
        }
      }
    },
  };
}

function mayStart(tree: WatchedTree, run: WatchedRun): boolean {
  if (run.state !== "queued" || tree.closed) return false;
  const live = [...tree.runs.values()].filter(
    (other) => other.parent === run.parent && other.state !== "queued" && other.state !== "ended",
  );
  return live.length < (tree.settings?.limits.liveChildren ?? 0);
}
