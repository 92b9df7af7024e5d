/**
 * A commit may contain a tree several times, in sequence. PostgreSQL writes a commit table by table, so what belongs to
 * one row is merged first: each tree has one part, and each run one patch.
 */

import type { TreeCommit } from "../../contracts/store.ts";
import type { TreeId } from "../../core/values/ids.ts";
import type { RunPatch } from "../../core/journal/journal.ts";
import { positionAfter, requireFollows } from "../check-part.ts";

export function mergeParts(parts: readonly TreeCommit[]): readonly TreeCommit[] {
  const merged = new Map<TreeId, TreeCommit>();
  for (const part of parts) {
    const earlier = merged.get(part.tree);
    if (earlier !== undefined) requireFollows(part, positionAfter(earlier));
    // The statement of a first part checks whether it follows the stored position.
    else requireFollows(part, part.create === undefined ? { ...part, nextSeq: part.expectedSeq } : undefined);
    merged.set(part.tree, earlier === undefined ? part : mergeTwo(earlier, part));
  }
  return [...merged.values()];
}

function mergeTwo(one: TreeCommit, next: TreeCommit): TreeCommit {
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
