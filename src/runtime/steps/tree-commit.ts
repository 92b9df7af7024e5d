/** What the steps of one tree contribute to a commit. */

import type { Blob, OutboxMessage, PostRecord, TreeCommit, TreeCreation } from "../../contracts/store.ts";
import type { Input } from "../../core/event.ts";
import type { PostId, TreeId } from "../../core/ids.ts";
import type { JournalRow, RunPatch } from "../../core/journal.ts";
import type { Json } from "../../core/json.ts";
import { stateBusy, type TreeState } from "../../core/state.ts";
import { timersNext } from "../../core/timers.ts";
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
  let create: Submission["create"];
  const rows: JournalRow[] = [];
  const runs: RunPatch[] = [];
  // One pass: this runs for every commit, and nearly all of these lists stay empty.
  let blobs: readonly Blob[] = NONE;
  let posts: readonly PostRecord[] = NONE;
  let ended: readonly { id: PostId; seq: number }[] = NONE;
  let outbox: readonly OutboxMessage[] = NONE;
  let erased: TreeCommit["erased"] = NONE;
  for (const { submission, stepped } of steps) {
    const { row } = stepped;
    const { post } = submission;
    const { seq } = row;
    create ??= submission.create;
    if (submission.blobs !== undefined) blobs = blobs === NONE ? submission.blobs : [...blobs, ...submission.blobs];
    if (post !== undefined) posts = [...posts, { id: post.id, hash: post.hash, seq, endedSeq: null }];
    if (submission.erased !== undefined) erased = [...erased, ...submission.erased];
    for (const patch of stepped.runs) runs.push(patch);
    const answered = postsEnded(stepped.decision.events);
    if (answered.length > 0) ended = [...ended, ...answered.map((id) => ({ id, seq }))];
    for (const { key, agent, text } of stepped.outgoing) outbox = [...outbox, { key, agent, text, at }];
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
    status: state.closed && state.agents.size === 0 ? "closed" : "open",
    wakeAt: wakeTime(state),
    busy: stateBusy(state),
    questions: state.questions.size,
    at,
    blobs,
    runs: mergePatches(runs),
    posts,
    postsEnded: ended,
    outbox,
    erased,
    snapshot: trees.snapshotDue(loaded, erased.length > 0) ?? undefined,
  };
}

/** The time that the store is told. A busy tree is in memory, and after a crash it is loaded for that: its times are nobody else's to know. */
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
