/**
 * I16 for runs: no run waits long while the process has a free slot and its parent may start another child. No other
 * check finds this, because a run that waits too long ends with a valid reason.
 */

import { demand } from "./violation.ts";
import type { WatchedRun, WatchedTree } from "./watched-tree.ts";

export interface IdleSlots {
  /** Called after every happening; `calm` is false while something is wrong. */
  look(trees: Iterable<WatchedTree>, now: number, calm: boolean): void;
}

/** A slot is offered at once, but the commit of the offer may wait for a slow disk. */
const SLACK_MS = 1_000;

export function createIdleSlots(slots: number): IdleSlots {
  /** The time since which a run could have started, by its tree and number. */
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
