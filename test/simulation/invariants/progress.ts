/**
 * Two invariants about time. `others`: every tree takes its work within a time limit, whatever happens to another tree
 * or happened to the store before. `duties`: mail is taken, timers fire and old trees are swept within a time limit,
 * whatever the last try did.
 *
 * Time moves only when nothing is ready. So work that is still owed when time moves past its limit would never come.
 */

import { Violation } from "./violation.ts";
import type { WatchedTree } from "./watched-tree.ts";

export interface Owed {
  readonly invariant: "others" | "duties";
  readonly what: string;
  readonly since: number;
  readonly done: () => boolean;
}

export interface Progress {
  owe(owed: Owed): void;
  /** Called before time moves to `to`. `calmSince`: the time since which nothing is wrong; null while something is. */
  look(to: number, calmSince: number | null): void;
}

/** The limit once nothing is wrong. */
export const PROGRESS_MS = 5_000;

export function createProgress(): Progress {
  const open = new Set<Owed>();
  return {
    owe: (owed) => void open.add(owed),
    look(to, calmSince) {
      for (const owed of open) {
        if (owed.done()) open.delete(owed);
        else if (calmSince !== null && to > Math.max(owed.since, calmSince) + PROGRESS_MS) {
          open.delete(owed);
          throw new Violation(
            owed.invariant,
            `${owed.what} is owed since ${owed.since}, nothing is wrong since ${calmSince}, ` +
              `and the next thing happens at ${to}`,
          );
        }
      }
    },
  };
}

/** `rate`: a store that refuses is not called in a busy loop. */
export function checkRate(refusals: number, milliseconds: number): void {
  if (refusals <= AT_ONCE + milliseconds / MEAN_RETRY_MS) return;
  throw new Violation("rate", `${refusals} commits were tried in the ${milliseconds} ms in which the store refused`);
}

/** Commits that may be tried at once, and their mean distance in time. */
const AT_ONCE = 40;
const MEAN_RETRY_MS = 250;

/** A working run ends soon after its deadline, because its timer fires. `excuse` as for `checkDeadline`. */
export function checkOverdue(tree: WatchedTree, to: number, excuse: number): void {
  for (const run of tree.runs.values()) {
    if (run.state === "ended" || run.parkedNow !== null) continue;
    const since = run.startedNow ?? (run.mode === "awaited" ? run.createdNow : null);
    if (since === null) continue;
    const due = Math.max(since + run.timeoutMs, excuse) + run.parkedMs;
    if (to > due + PROGRESS_MS)
      throw new Violation(
        "duties",
        `run ${run.number} of ${tree.id} was due at ${due}, and nothing happens before ${to}`,
      );
  }
}
