/**
 * Whether a commit may be applied to the store in memory. It changes nothing: it throws, or all of the commit applies.
 *
 * A commit may hold a tree, a post or a run several times, so what its earlier parts would leave is kept beside what is stored.
 */

import type { Commit, PostRecord, TreeCommit } from "../../contracts/store.ts";
import type { PostId, RunNumber, TreeId } from "../../core/values/ids.ts";
import type { RunPatch } from "../../core/journal/journal.ts";
import { postReused, treeConflict } from "../refusals.ts";
import { madeRun } from "../run-patches.ts";
import { requireSequence } from "../sequence.ts";
import type { MemoryTables } from "./memory-tables.ts";

/** What is stored. */
type Held = Pick<MemoryTables, "trees" | "posts">;

/** What the parts of a commit that were already checked would leave of one tree. */
interface Planned {
  epoch: number;
  nextSeq: number;
  /** Null until there is one: most commits make no post and no run. */
  posts: Map<PostId, string> | null;
  runs: Set<RunNumber> | null;
}

export function checkCommit(state: Held, commit: Commit): void {
  const planned = commit.trees.length < 2 ? null : new Map<TreeId, Planned>();
  for (const part of commit.trees) {
    const plan = checkTree(state, planned?.get(part.tree), part);
    for (const patch of part.runs) checkRun(state, plan, part.tree, patch);
    for (const post of part.posts) checkPost(state, plan, part.tree, post);
    planned?.set(part.tree, plan);
  }
}

function checkTree(state: Held, earlier: Planned | undefined, part: TreeCommit): Planned {
  const { tree, epoch, expectedSeq } = part;
  const known = earlier ?? state.trees.get(tree)?.record;
  if (part.create !== undefined) {
    if (known !== undefined) throw treeConflict(tree, "it exists already");
    if (expectedSeq !== 1) throw treeConflict(tree, "a new tree's first row is 1");
  } else {
    if (known === undefined) throw treeConflict(tree, "it does not exist");
    if (known.epoch > epoch) throw treeConflict(tree, `epoch ${epoch} is over`);
    if (known.nextSeq !== expectedSeq) throw treeConflict(tree, `its next row is ${known.nextSeq}, not ${expectedSeq}`);
  }
  requireSequence(part);
  const nextSeq = expectedSeq + part.rows.length;
  if (earlier === undefined) return { epoch, nextSeq, posts: null, runs: null };
  earlier.epoch = epoch;
  earlier.nextSeq = nextSeq;
  return earlier;
}

function checkRun(state: Held, plan: Planned, tree: TreeId, patch: RunPatch): void {
  if (plan.runs?.has(patch.number) === true || state.trees.get(tree)?.runs.has(patch.number) === true) return;
  plan.runs ??= new Set();
  plan.runs.add(madeRun(tree, patch).number);
}

function checkPost(state: Held, plan: Planned, tree: TreeId, post: PostRecord): void {
  const hash = plan.posts?.get(post.id) ?? state.posts.get(tree)?.get(post.id)?.hash ?? post.hash;
  if (hash !== post.hash) throw postReused(tree, post.id);
  plan.posts ??= new Map();
  plan.posts.set(post.id, hash);
}
