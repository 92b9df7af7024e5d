/**
 * A commit may hold a tree several times, in sequence. PostgreSQL writes a commit table by table, so what belongs to one row is merged
 * first: a tree is one part, and a run one patch.
 */

import type { TreeCommit } from "../../contracts/store.ts";
import type { TreeId } from "../../core/values/ids.ts";
import type { RunPatch } from "../../core/journal/journal.ts";
import { treeConflict } from "../refusals.ts";
import { requireSequence } from "../sequence.ts";

export function mergeParts(parts: readonly TreeCommit[]): readonly TreeCommit[] {
  const merged = new Map<TreeId, TreeCommit>();
  for (const part of parts) {
    requireSequence(part);
    if (part.create !== undefined && part.expectedSeq !== 1) {
      throw treeConflict(part.tree, "a new tree's first row is 1");
    }
    const earlier = merged.get(part.tree);
    merged.set(part.tree, earlier === undefined ? part : followed(earlier, part));
  }
  return [...merged.values()];
}

function followed(one: TreeCommit, next: TreeCommit): TreeCommit {
  if (next.create !== undefined) throw treeConflict(next.tree, "it exists already");
  if (next.epoch !== one.epoch) throw treeConflict(next.tree, `epoch ${next.epoch} is over`);
  const expected = one.expectedSeq + one.rows.length;
  if (next.expectedSeq !== expected) {
    throw treeConflict(next.tree, `its next row is ${expected}, not ${next.expectedSeq}`);
  }
  const snapshot = next.snapshot ?? one.snapshot;
  return {
    ...next,
    expectedSeq: one.expectedSeq,
    ...(one.create === undefined ? {} : { create: one.create }),
    rows: [...one.rows, ...next.rows],
    blobs: [...one.blobs, ...next.blobs],
    runs: [...one.runs, ...next.runs],
    posts: [...one.posts, ...next.posts],
    postsEnded: [...one.postsEnded, ...next.postsEnded],
    outbox: [...one.outbox, ...next.outbox],
    erased: [...one.erased, ...next.erased],
    ...(snapshot === undefined ? {} : { snapshot }),
  };
}

/** One patch for each run: the later columns win. */
export function mergePatches(patches: readonly RunPatch[]): readonly RunPatch[] {
  const merged = new Map<number, RunPatch>();
  for (const patch of patches) merged.set(patch.number, { ...merged.get(patch.number), ...patch });
  return [...merged.values()];
}
