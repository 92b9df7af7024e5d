/**
 * Whether the store in memory can apply a commit. It changes nothing: it throws, or the whole commit can be applied.
 *
 * A commit may contain a tree, a post or a run several times, so what its earlier parts would leave counts too.
 */

import type { Commit, PostRecord } from "../../contracts/store.ts";
import type { PostId, RunNumber, TreeId } from "../../core/values/ids.ts";
import type { RunPatch } from "../../core/journal/journal.ts";
import { positionAfter, requireFollows, type TreePosition } from "../check-part.ts";
import { postReused } from "../refusals.ts";
import { createdRun } from "../run-columns.ts";
import type { MemoryTables } from "./memory-tables.ts";

/** One tree as the checked parts of a commit would leave it. */
interface Planned {
  position: TreePosition | undefined;
  readonly posts: Map<PostId, string>;
  readonly runs: Set<RunNumber>;
}

export function checkCommit({ trees, posts }: Pick<MemoryTables, "trees" | "posts">, commit: Commit): void {
  const plans = new Map<TreeId, Planned>();
  for (const part of commit.trees) {
    const plan = planOf(part.tree);
    requireFollows(part, plan.position);
    plan.position = positionAfter(part);
    for (const patch of part.runs) checkRun(plan, part.tree, patch);
    for (const post of part.posts) checkPost(plan, part.tree, post);
  }

  function planOf(tree: TreeId): Planned {
    const known = plans.get(tree);
    if (known !== undefined) return known;
    const plan = { position: trees.get(tree)?.record, posts: new Map(), runs: new Set<RunNumber>() };
    plans.set(tree, plan);
    return plan;
  }

  function checkRun(plan: Planned, tree: TreeId, patch: RunPatch): void {
    const known = plan.runs.has(patch.number) || trees.get(tree)?.runs.has(patch.number) === true;
    if (!known) plan.runs.add(createdRun(tree, patch).number);
  }

  function checkPost(plan: Planned, tree: TreeId, post: PostRecord): void {
    const hash = plan.posts.get(post.id) ?? posts.get(tree)?.get(post.id)?.hash ?? post.hash;
    if (hash !== post.hash) throw postReused(tree, post.id);
    plan.posts.set(post.id, hash);
  }
}
