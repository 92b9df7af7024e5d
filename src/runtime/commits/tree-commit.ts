/** What the steps of one tree contribute to a commit. */

import type { Blob, PostRecord, TreeCommit, TreeCreation } from "../../contracts/store.ts";
import type { OutboxMessage } from "../../contracts/store-messages.ts";
import type { Input } from "../../core/event.ts";
import type { PostId, TreeId } from "../../core/values/ids.ts";
import type { JournalRow, RunPatch } from "../../core/journal/journal.ts";
import type { Json } from "../../core/values/json.ts";
import { stateBusy, type TreeState } from "../../core/state.ts";
import { timersNext } from "../../core/values/timers.ts";
import type { Stepped } from "../../core/tree.ts";
import { rowLength } from "../trees/read-tree.ts";
import type { LoadedTree, TreeCache } from "../trees/tree-cache.ts";
import { postsEnded } from "../messages/turn-outcome.ts";

/** What is asked of the commit loop: take this input into that tree. */
export interface Submission {
  readonly tree: TreeId;
  readonly input: Input;
  readonly texts: readonly Json[];
  /** The post to record with it. */
  readonly post?: { readonly id: PostId; readonly hash: string };
  /** Given with the input that opens a tree. */
  readonly create?: TreeCreation;
  readonly blobs?: readonly Blob[];
  readonly erased?: TreeCommit["erased"];
}

/** The steps of one tree in one commit. */
export interface CommitPart<Step extends { readonly submission: Submission; readonly stepped: Stepped }> {
  readonly loaded: LoadedTree;
  readonly expectedSeq: number;
  readonly steps: Step[];
}

type AnyPart = CommitPart<{ readonly submission: Submission; readonly stepped: Stepped }>;

const NONE: readonly never[] = [];

export function treeCommit(part: AnyPart, trees: TreeCache): TreeCommit {
  const { loaded, steps, expectedSeq } = part;
  const { state } = loaded.tree;
  const { at } = state;
  const busy = stateBusy(state);
  let create: Submission["create"];
  const rows: JournalRow[] = [];
  const runs: RunPatch[] = [];
  // One pass: this runs for every commit, and nearly all of these lists stay empty.
  let blobs: readonly Blob[] | undefined;
  let posts: PostRecord[] | undefined;
  let ended: { id: PostId; seq: number }[] | undefined;
  let outbox: OutboxMessage[] | undefined;
  let erased: TreeCommit["erased"][number][] | undefined;
  for (const { submission, stepped } of steps) {
    const { row } = stepped;
    const { post } = submission;
    const { seq } = row;
    create ??= submission.create;
    if (submission.blobs !== undefined) blobs = blobs === undefined ? submission.blobs : blobs.concat(submission.blobs);
    if (post !== undefined) (posts ??= []).push({ id: post.id, hash: post.hash, seq, endedSeq: null });
    if (submission.erased !== undefined) (erased ??= []).push(...submission.erased);
    for (const patch of stepped.runs) runs.push(patch);
    for (const id of postsEnded(stepped.decision.events)) (ended ??= []).push({ id, seq });
    for (const { key, agent, text } of stepped.outgoing) (outbox ??= []).push({ key, agent, text, at });
    rows.push(row);
    loaded.rowsLength += rowLength(row);
  }
  // One shape for all commits: members spread in one by one are what took most of the time here.
  return {
    tree: loaded.id,
    epoch: loaded.epoch,
    expectedSeq,
    create,
    rows,
    // A closed tree with texts to erase is still to be recovered after a crash.
    status: state.closed && state.agents.size === 0 && !busy ? "closed" : "open",
    wakeAt: wakeTime(state),
    busy,
    questions: state.questions.size,
    at,
    blobs: blobs ?? NONE,
    runs: mergePatches(runs),
    posts: posts ?? NONE,
    postsEnded: ended ?? NONE,
    outbox: outbox ?? NONE,
    erased: erased ?? NONE,
    snapshot: trees.snapshotDue(loaded, (erased ?? NONE).length > 0) ?? undefined,
  };
}

/**
 * The wake time for the store. A busy tree is in memory, and a restart loads it because it is busy. So its process
 * keeps the timers, and the store gets null.
 */
export function wakeTime(state: TreeState): number | null {
  return stateBusy(state) ? null : timersNext(state.timers);
}

/** One patch for each run: the later columns win. */
export function mergePatches(patches: readonly RunPatch[]): readonly RunPatch[] {
  if (patches.length < 2) return patches;
  const merged = new Map<number, RunPatch>();
  for (const patch of patches) {
    const earlier = merged.get(patch.number);
    merged.set(patch.number, earlier === undefined ? patch : { ...earlier, ...patch });
  }
  return [...merged.values()];
}
