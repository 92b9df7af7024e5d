/** What the steps of one tree contribute to a commit. */

import type { Blob, TreeCommit, TreeCreation } from "../contracts/store.ts";
import type { Input } from "../core/event.ts";
import type { PostId, TreeId } from "../core/ids.ts";
import type { RunPatch } from "../core/journal.ts";
import type { Json } from "../core/json.ts";
import { stateBusy } from "../core/state.ts";
import { timersNext } from "../core/timers.ts";
import type { Stepped } from "../core/tree.ts";
import type { LoadedTree, TreeCache } from "./tree-cache.ts";
import { postsEnded } from "./turn-outcome.ts";

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

export function treeCommit(part: AnyPart, trees: TreeCache): TreeCommit {
  const { loaded, steps } = part;
  const { state } = loaded.tree;
  const submissions = steps.map((step) => step.submission);
  const stepped = steps.map((step) => step.stepped);
  const create = submissions.find((submission) => submission.create !== undefined)?.create;
  const erased = submissions.flatMap((submission) => submission.erased ?? []);
  const snapshot = trees.snapshotDue(loaded, erased.length > 0);
  return {
    tree: loaded.id,
    epoch: loaded.epoch,
    expectedSeq: part.expectedSeq,
    ...(create === undefined ? {} : { create }),
    rows: stepped.map((one) => one.row),
    status: state.closed && state.agents.size === 0 ? "closed" : "open",
    wakeAt: timersNext(state.timers),
    busy: stateBusy(state),
    questions: state.questions.size,
    at: state.at,
    blobs: submissions.flatMap((submission) => submission.blobs ?? []),
    runs: mergePatches(stepped.flatMap((one) => one.runs)),
    posts: submissions.flatMap(({ post }, index) =>
      post === undefined ? [] : [{ ...post, seq: part.expectedSeq + index, endedSeq: null }],
    ),
    postsEnded: stepped.flatMap(({ row, decision }) => postsEnded(decision.events).map((id) => ({ id, seq: row.seq }))),
    outbox: stepped.flatMap((one) => one.outgoing.map((message) => ({ ...message, at: state.at }))),
    erased,
    ...(snapshot === null ? {} : { snapshot }),
  };
}

/** One patch for each run: the later columns win. */
export function mergePatches(patches: readonly RunPatch[]): readonly RunPatch[] {
  if (patches.length < 2) return patches;
  const merged = new Map<number, RunPatch>();
  for (const patch of patches) merged.set(patch.number, { ...merged.get(patch.number), ...patch });
  return [...merged.values()];
}
