/** What a tree or a run is doing, in a word or two, from its record alone. */

import type { StoredRun, TreeRecord } from "../../contracts/store.ts";
import { terminalLine } from "../text/terminal-text.ts";

/**
 * - `busy`: something is under way, or was when its process died.
 * - `asking`: a question waits for the user.
 * - `waiting`: it asked to be woken at a time.
 * - `idle`: it waits for a message.
 * - `unplaced`: the last process that tried to run it lacked a tool or a model.
 * - `quarantined`: it failed to load or to step, and waits for a person.
 * - `expired`: only its record is left.
 * - `arriving`: `errand migrate` is moving it here.
 */
export type TreeWord =
  | "busy"
  | "asking"
  | "waiting"
  | "idle"
  | "unplaced"
  | "closed"
  | "quarantined"
  | "expired"
  | "arriving";

export function treeWord(tree: TreeRecord): TreeWord {
  if (tree.status !== "open") return tree.status;
  if (tree.unplaced !== null) return "unplaced";
  if (tree.busy) return "busy";
  if (tree.questions > 0) return "asking";
  return tree.wakeAt === null ? "idle" : "waiting";
}

/** The run's state, or its status with the reason once it has ended. */
export function statusText(run: StoredRun): string {
  if (run.status === null) return run.state;
  return terminalLine(run.reason === null ? run.status : `${run.status}, ${run.reason}`);
}
