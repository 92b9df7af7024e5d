/** In one word, what a tree is doing, by its record alone. */

import type { TreeRecord } from "../../contracts/store.ts";

/**
 * `busy`: something is under way, or was when its process died. `asking`: a question waits for the user. `waiting`: it wants to be woken at a time. `idle`: it waits for a
 * message. `quarantined`: it failed to load or to step and waits for a person. `expired`: only its record is left. `arriving`: it is
 * being moved here by `errand migrate`. `unplaced`: the last process that wanted to run it lacked a tool or a model.
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
