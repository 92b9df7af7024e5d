/**
 * The commit loop: takes the inputs that are ready, steps their trees, commits all of it at once, and only then lets anybody see it.
 *
 * Invariants:
 *  1. At most one commit at a time, at most one per turn of the event loop; what is ready together shares it.
 *  2. No effect, reply, acknowledgement or subscription sees a step before its commit.
 *  3. If a commit fails, the trees of the batch are dropped from memory and their inputs are taken again after a load. Inputs can be
 *     taken twice: a result names its effect and attempt, a post its id.
 */

import type { Blob, Commit, OutboxKey, Store, TreeCommit } from "../contracts/store.ts";
import type { World } from "../contracts/world.ts";
import type { Input } from "../core/event.ts";
import { type PostId, SALT_DIGITS, SEED_DIGITS, type TreeId } from "../core/ids.ts";
import type { RunPatch } from "../core/journal.ts";
import type { Json } from "../core/json.ts";
import { JOURNAL_FORMAT } from "../core/revision.ts";
import { stateBusy } from "../core/state.ts";
import { timersNext } from "../core/timers.ts";
import { type Stepped, treeStep } from "../core/tree.ts";
import { ErrandError } from "../errors.ts";
import { postsEnded } from "./turn-outcome.ts";
import type { Clock } from "./clock.ts";
import type { Scheduler } from "./scheduler.ts";
import type { LoadedTree, TreeCache } from "./tree-cache.ts";

/** What is asked of the loop: take this input into that tree. */
export interface Submission {
  readonly tree: TreeId;
  readonly input: Input;
  readonly texts: readonly Json[];
  /** The post to record with it. */
  readonly post?: { readonly id: PostId; readonly hash: string };
  /** Given with the input that opens a tree. */
  readonly create?: { readonly agent: string; readonly kind: "foreground" | "background" };
  readonly blobs?: readonly Blob[];
  readonly erased?: TreeCommit["erased"];
}

/** A step that is durable. */
export interface Committed {
  readonly tree: TreeId;
  readonly loaded: LoadedTree;
  readonly stepped: Stepped;
  readonly input: Input;
}

interface Waiting {
  readonly submission: Submission;
  readonly resolve: (committed: Committed) => void;
  readonly reject: (error: unknown) => void;
  tries: number;
}

export interface CommitLoop {
  /** Resolves when the step is durable. */
  submit(submission: Submission): Promise<Committed>;
  /** Remembers that a channel has taken a message; goes with the next commit. */
  acknowledge(key: OutboxKey): void;
  /** Resolves when nothing is queued or being committed. */
  idle(): Promise<void>;
  /** True while an input for this tree is queued or being committed. */
  occupied(tree: TreeId): boolean;
  close(): Promise<void>;
}

interface CommitLoopParts {
  readonly store: Store;
  readonly world: World;
  readonly clock: Clock;
  readonly trees: TreeCache;
  readonly scheduler: Scheduler;
  /** Called in order for every durable step. */
  readonly onCommitted: (committed: Committed) => void;
  /** Called after the steps of a commit were handed on. */
  readonly onSettled: (trees: readonly TreeId[]) => void;
  /** A failure of the store that nobody waits for, or that makes going on unsafe. */
  readonly onFailure: (error: ErrandError) => void;
}

const MAX_TRIES = 3;
const FULL_RETRY_MS = 1_000;

/** The steps of one tree in one commit. */
interface Part {
  readonly loaded: LoadedTree;
  readonly expectedSeq: number;
  readonly waiting: Waiting[];
  readonly stepped: Stepped[];
}

export function createCommitLoop(parts: CommitLoopParts): CommitLoop {
  const { store, world, clock, trees, scheduler } = parts;
  let queue: Waiting[] = [];
  let acknowledged: OutboxKey[] = [];
  let running = false;
  let scheduled = false;
  let loading = 0;
  const idlers: (() => void)[] = [];
  const busy = new Map<TreeId, number>();

  function count(tree: TreeId, change: number): void {
    const now = (busy.get(tree) ?? 0) + change;
    if (now === 0) busy.delete(tree);
    else busy.set(tree, now);
  }

  function schedule(): void {
    if (scheduled || running) return;
    scheduled = true;
    world.soon(() => {
      scheduled = false;
      void run();
    });
  }

  async function run(): Promise<void> {
    if (running) return;
    running = true;
    try {
      const batch = stepAll();
      if (batch.length > 0) await commitAll(batch);
    } finally {
      running = false;
    }
    if (queue.length > 0) schedule();
    else if (loading === 0) for (const resolve of idlers.splice(0)) resolve();
  }

  /** Steps every tree that has an input and is in memory; loads those that are not. */
  function stepAll(): Part[] {
    const taken = queue;
    queue = [];
    const batch = new Map<TreeId, Part>();
    for (const waiting of taken) {
      const { tree: id, create } = waiting.submission;
      const loaded = trees.get(id) ?? (create === undefined ? undefined : trees.begin(id));
      if (loaded === undefined) {
        load(waiting);
        continue;
      }
      const part = batch.get(id) ?? { loaded, expectedSeq: loaded.tree.state.seq + 1, waiting: [], stepped: [] };
      batch.set(id, part);
      try {
        part.stepped.push(step(loaded, waiting.submission));
        part.waiting.push(waiting);
      } catch (error) {
        batch.delete(id);
        abandon(id, [...part.waiting, waiting], error);
      }
    }
    return [...batch.values()];
  }

  function step(loaded: LoadedTree, { input, texts }: Submission): Stepped {
    const { tree } = loaded;
    const held = tree.state.running;
    const at = Math.max(clock.now(), tree.state.at);
    const stepped = treeStep(
      tree,
      { at, seed: world.random(SEED_DIGITS), slots: scheduler.free(), input, texts },
      world.random(SALT_DIGITS),
    );
    scheduler.moved(loaded.id, tree.state.running - held, tree.state.queued);
    return stepped;
  }

  /** The kernel threw, which is a bug: the tree stops alone. */
  function abandon(id: TreeId, waiting: readonly Waiting[], error: unknown): void {
    void trees.fail(id).catch(report);
    for (const one of waiting) finish(one, () => one.reject(error));
  }

  function load(waiting: Waiting): void {
    loading += 1;
    trees
      .load(waiting.submission.tree)
      .then(
        () => void queue.push(waiting),
        (error: unknown) => finish(waiting, () => waiting.reject(error)),
      )
      .finally(() => {
        loading -= 1;
        schedule();
      });
  }

  async function commitAll(batch: readonly Part[]): Promise<void> {
    const acks = acknowledged;
    acknowledged = [];
    const commit: Commit = { trees: batch.map(treeCommit), acknowledged: acks };
    try {
      await store.commit(commit);
    } catch (error) {
      acknowledged = [...acks, ...acknowledged];
      return fail(batch, error);
    }
    for (const part of batch) {
      const snapshot = commit.trees.find((tree) => tree.tree === part.loaded.id)?.snapshot;
      if (snapshot !== undefined) part.loaded.snapshotSeq = snapshot.seq;
      scheduler.wakeAt(timersNext(part.loaded.tree.state.timers));
      for (const [index, stepped] of part.stepped.entries()) {
        const waiting = part.waiting[index];
        if (waiting === undefined) continue;
        const committed: Committed = {
          tree: part.loaded.id,
          loaded: part.loaded,
          stepped,
          input: waiting.submission.input,
        };
        parts.onCommitted(committed);
        finish(waiting, () => waiting.resolve(committed));
      }
    }
    parts.onSettled(batch.map((part) => part.loaded.id));
  }

  function finish(waiting: Waiting, settle: () => void): void {
    count(waiting.submission.tree, -1);
    settle();
  }

  function treeCommit(part: Part): TreeCommit {
    const { loaded, stepped, waiting } = part;
    const { state } = loaded.tree;
    const submissions = waiting.map((one) => one.submission);
    const create = submissions.find((submission) => submission.create !== undefined)?.create;
    const erased = submissions.flatMap((submission) => submission.erased ?? []);
    const snapshot = trees.snapshotDue(loaded, erased.length > 0);
    return {
      tree: loaded.id,
      epoch: loaded.epoch,
      expectedSeq: part.expectedSeq,
      ...(create === undefined ? {} : { create: { ...create, format: JOURNAL_FORMAT } }),
      rows: stepped.map((one) => one.row),
      status: state.closed && state.agents.size === 0 ? "closed" : "open",
      wakeAt: timersNext(state.timers),
      busy: stateBusy(state),
      at: state.at,
      blobs: submissions.flatMap((submission) => submission.blobs ?? []),
      runs: mergePatches(stepped.flatMap((one) => one.runs)),
      posts: submissions.flatMap(({ post }, index) =>
        post === undefined ? [] : [{ ...post, seq: part.expectedSeq + index, endedSeq: null }],
      ),
      postsEnded: stepped.flatMap(({ row, decision }) =>
        postsEnded(decision.events).map((id) => ({ id, seq: row.seq })),
      ),
      outbox: stepped.flatMap((one) => one.outgoing.map((message) => ({ ...message, at: state.at }))),
      erased,
      ...(snapshot === null ? {} : { snapshot }),
    };
  }

  /** The batch did not become durable, or nobody knows: its trees are loaded again and its inputs taken again. */
  function fail(batch: readonly Part[], cause: unknown): void {
    const error =
      cause instanceof ErrandError ? cause : new ErrandError("store-failed", "The store failed.", { cause });
    const fatal = error.code !== "store-full" && error.code !== "commit-conflict";
    for (const { loaded, waiting } of batch) {
      trees.drop(loaded.id);
      for (const one of waiting) {
        one.tries += 1;
        if (fatal || one.tries >= MAX_TRIES || one.submission.create !== undefined)
          finish(one, () => one.reject(error));
        else if (error.code === "store-full") world.after(FULL_RETRY_MS, () => again(one));
        else queue.push(one);
      }
    }
    if (fatal) parts.onFailure(error);
  }

  function again(waiting: Waiting): void {
    queue.push(waiting);
    schedule();
  }

  function report(error: unknown): void {
    parts.onFailure(
      error instanceof ErrandError ? error : new ErrandError("store-failed", "The store failed.", { cause: error }),
    );
  }

  return {
    submit(submission) {
      return new Promise<Committed>((resolve, reject) => {
        count(submission.tree, 1);
        queue.push({ submission, resolve, reject, tries: 0 });
        schedule();
      });
    },
    acknowledge: (key) => void acknowledged.push(key),
    idle: () =>
      queue.length === 0 && !running && !scheduled && loading === 0
        ? Promise.resolve()
        : new Promise((resolve) => idlers.push(resolve)),
    occupied: (tree) => busy.has(tree),
    async close() {
      await this.idle();
      if (acknowledged.length > 0) await store.commit({ trees: [], acknowledged });
      acknowledged = [];
    },
  };
}

/** One patch for each run: the later columns win. */
export function mergePatches(patches: readonly RunPatch[]): readonly RunPatch[] {
  if (patches.length < 2) return patches;
  const merged = new Map<number, RunPatch>();
  for (const patch of patches) merged.set(patch.number, { ...merged.get(patch.number), ...patch });
  return [...merged.values()];
}
