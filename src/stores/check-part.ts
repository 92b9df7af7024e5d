/** Whether a tree's part of a commit continues the tree where it is. The rows of a tree are numbered without gaps. */

import type { TreeCommit } from "../contracts/store.ts";
import { treeConflict } from "./refusals.ts";

/** The position of a tree: its epoch and its next row. */
export interface TreePosition {
  readonly epoch: number;
  readonly nextSeq: number;
}

/** Throws `commit-conflict` unless the part follows `position`, which is undefined for a tree that does not exist. */
export function requireFollows(part: TreeCommit, position: TreePosition | undefined): void {
  const { tree, create, epoch, expectedSeq, rows } = part;
  if (create !== undefined) {
    if (position !== undefined) throw treeConflict(tree, "it exists already");
    if (expectedSeq !== 1) throw treeConflict(tree, "a new tree's first row is 1");
  } else {
    if (position === undefined) throw treeConflict(tree, "it does not exist");
    if (position.epoch > epoch) throw treeConflict(tree, `epoch ${epoch} is over`);
    if (position.nextSeq !== expectedSeq)
      throw treeConflict(tree, `its next row is ${position.nextSeq}, not ${expectedSeq}`);
  }
  for (const [index, { seq }] of rows.entries()) {
    const expected = expectedSeq + index;
    if (seq !== expected) throw treeConflict(tree, `row ${seq} stands where row ${expected} must`);
  }
}

/** The position of the tree after the part. */
export function positionAfter({ epoch, expectedSeq, rows }: TreeCommit): TreePosition {
  return { epoch, nextSeq: expectedSeq + rows.length };
}
