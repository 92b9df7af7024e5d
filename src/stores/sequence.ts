/**
 * Rows are numbered without gaps: a commit's rows begin at the sequence that their writer expects and count on from there.
 */

import type { TreeCommit } from "../contracts/store.ts";
import { treeConflict } from "./refusals.ts";

export function requireSequence(part: TreeCommit): void {
  let expected = part.expectedSeq;
  for (const row of part.rows) {
    if (row.seq !== expected) throw treeConflict(part.tree, `row ${row.seq} stands where row ${expected} must`);
    expected += 1;
  }
}
