/**
 * The commit loop: steps trees whose inputs are ready, commits the steps together, and then publishes them.
 *
 * Invariants:
 *  1. At most one commit runs at a time. Inputs that are ready together share it, within the time of a batch
 *     (step-batch.ts). Between two commits the event loop runs once, so that I/O, timers and streams stay responsive.
 *  2. No effect, reply, acknowledgement or subscription sees a step before its commit.
 *  3. If a commit fails or its outcome is unknown, its trees are dropped from memory, and their inputs are taken again
 *     after a load. That is safe: the kernel rejects a result that was already recorded, because it names its effect
 *     and attempt, and a post is looked up by its id.
 *  4. A tree that the store cannot hold, or whose step throws, fails alone (failing-trees.ts). The other trees of the
 *     same commit go on.
 *  5. While the disk is full or the store is busy, commits are tried at a limited rate: results wait, new work is
 *     refused. After a failed fsync the loop accepts nothing.
 */

import type { OutboxKey, Store, TreeCommit } from "../../contracts/store.ts";
import type { World } from "../../contracts/world.ts";
import type { StepKey, TreeId } from "../../core/values/ids.ts";
import type { Json } from "../../core/values/json.ts";
import type { ProcessRights } from "../../core/permissions/process-rights.ts";
import { timersNext } from "../../core/values/timers.ts";
import type { Stepped } from "../../core/tree.ts";
import { ErrandError } from "../../errors.ts";
import type { Clock } from "../clock.ts";
import type { Redactor } from "../redaction/redactor.ts";
import type { LoadedTree, TreeCache } from "../trees/tree-cache.ts";
import type { WakeTimer } from "../wake-timer.ts";
import { commitFailure, storeError, worthAnother } from "./commit-failures.ts";
import { createFailingTrees } from "./failing-trees.ts";
import { createInputQueue, type Listener, type QueuedInput } from "./input-queue.ts";
import { createLoads } from "./loads.ts";
import type { Slots } from "./slots.ts";
import { type BatchPart, createStepBatch, inputsOf } from "./step-batch.ts";
import { createStorePause } from "./store-pause.ts";
import { type Submission, treeCommit } from "./tree-commit.ts";

/** A committed step. It is durable too, unless its fsync is deferred. */
export interface Committed {
  readonly tree: TreeId;
  readonly loaded: LoadedTree;
  readonly stepped: Stepped;
}

export interface CommitLoop {
  /** Resolves when the step is committed: with null, or with the reason why the kernel rejected the input. */
  submit(submission: Submission): Promise<string | null>;
  /** Like `submit`, for a caller that does not wait. */
  submitDetached(submission: Submission, onFailure: (error: unknown) => void): void;
  /** Remembers that a channel has taken a message. The next commit records it. */
  acknowledge(key: OutboxKey): void;
  /** Resolves when no input can be taken and no commit runs. */
  idle(): Promise<void>;
  /** True while commits wait for the store to work again. */
  paused(): boolean;
  /** True while an input for this tree is queued or being committed. */
  pending(tree: TreeId): boolean;
  /** True while the result of this effect is queued or being committed. */
  resultPending(tree: TreeId, effect: StepKey): boolean;
  close(): Promise<void>;
}

export interface CommitEvents {
  /** A step was committed. Sent for each, in order. */
  stepCommitted(committed: Committed): void;
  /** A commit recorded that channels took these messages. */
  acknowledged(keys: readonly OutboxKey[]): void;
  /** All steps of a commit were sent. */
  batchCommitted(trees: readonly TreeId[]): void;
  /** No input is left: a tree that failed may have released slots that no commit offers. */
  queueEmpty(): void;
  /** The outcome of a commit is unknown. The effects of these steps were not started. */
  commitInDoubt(tree: TreeId, steps: readonly Stepped[]): void;
  /** A tree failed too often, and waits for a person. */
  treeQuarantined(tree: TreeId, error: ErrandError): void;
}

interface CommitLoopParts {
  readonly store: Store;
  readonly world: World;
  readonly clock: Clock;
  readonly trees: TreeCache;
  readonly slots: Slots;
  readonly wakeTimer: WakeTimer;
  readonly redactor: Redactor;
  /** What agents may do while this process executes them. */
  readonly rights: ProcessRights;
  readonly events: CommitEvents;
  /** The store failed, and the loop accepts nothing more. */
  readonly onStopped: (error: ErrandError) => void;
  /** Something failed, and the process continues without it. */
  readonly onFailure: (error: unknown) => void;
}

export function createCommitLoop(parts: CommitLoopParts): CommitLoop {
  const { store, world, trees, events, onFailure } = parts;
  const queue = createInputQueue();
  let acknowledged: OutboxKey[] = [];
  let scheduled = false;
  let running = false;
  let broken: ErrandError | null = null;
  const idlers: (() => void)[] = [];
  const pause = createStorePause({ world, onEnd: schedule, onNotice: onFailure });
  const failing = createFailingTrees({
    trees,
    queue,
    onRetry: (inputs, storeFailed) => (storeFailed === undefined ? requeue(inputs) : retryLater(inputs, storeFailed)),
    onQuarantined: events.treeQuarantined,
    onFailure,
    onDone: schedule,
  });
  const onUnavailable = (error: ErrandError): void => pause.failed(error, false);
  const loads = createLoads({ store, trees, queue, onDone: schedule, onUnavailable, onFailure });
  const stepBatch = createStepBatch({ ...parts, queue, loads, failing });

  function schedule(): void {
    if (scheduled || running) return;
    scheduled = true;
    world.soon(() => void run());
  }

  async function run(): Promise<void> {
    scheduled = false;
    running = true;
    let batch: readonly BatchPart[] = [];
    try {
      if (!pause.active()) {
        loads.retry();
        batch = stepBatch();
        if (batch.length > 0) await commitAll(batch);
      }
    } catch (error) {
      stop([], storeError(error));
    }
    running = false;
    if (!pause.active() && broken === null && resting()) events.queueEmpty();
    // What an empty batch left in the queue waits for trees that are being loaded. Each load schedules when it has
    // ended.
    const loading = batch.length === 0 && loads.count() > 0;
    if (queue.size() > 0 && !pause.active() && !loading) schedule();
    else if (idlers.length > 0 && resting()) for (const resolve of idlers.splice(0)) resolve();
  }

  function resting(): boolean {
    const nothing = queue.size() === 0 || pause.active();
    return nothing && !scheduled && !running && loads.count() === 0 && failing.recording() === 0;
  }

  /** A part that cannot be put into rows fails alone. */
  function writable(batch: readonly BatchPart[]): readonly (readonly [BatchPart, TreeCommit])[] {
    return batch.flatMap((part) => {
      try {
        return [[part, treeCommit(part, trees)] as const];
      } catch (error) {
        failing.fail(part.loaded.id, inputsOf(part), error);
        return [];
      }
    });
  }

  async function commitAll(given: readonly BatchPart[]): Promise<void> {
    const written = writable(given);
    const batch = written.map(([part]) => part);
    const taken = acknowledged;
    acknowledged = [];
    const deferFsync =
      taken.length === 0 && batch.every(({ steps }) => steps.every(({ stepped }) => stepped.fsyncDeferrable));
    try {
      if (batch.length > 0 || taken.length > 0)
        await store.commit({ trees: written.map(([, rows]) => rows), acknowledged: taken, deferFsync });
    } catch (error) {
      acknowledged = [...taken, ...acknowledged];
      return fail(batch, storeError(error));
    }
    pause.succeeded();
    events.acknowledged(taken);
    for (const [part, { snapshot }] of written) publish(part, snapshot);
    events.batchCommitted(batch.map((part) => part.loaded.id));
  }

  function publish({ loaded, steps }: BatchPart, snapshot: TreeCommit["snapshot"]): void {
    failing.clear(loaded.id);
    const last = steps.at(-1)?.stepped.row;
    if (last !== undefined) loaded.durable = { seq: last.seq, hash: last.hash };
    if (snapshot !== undefined) {
      loaded.snapshotSeq = snapshot.seq;
      loaded.snapshotLength = snapshot.text.length;
      loaded.rowsLength = 0;
    }
    parts.wakeTimer.wakeAt(timersNext(loaded.tree.state.timers));
    for (const { input, stepped } of steps) {
      events.stepCommitted({ tree: loaded.id, loaded, stepped });
      if (input !== null) queue.resolve(input, stepped.decision.rejected);
    }
  }

  function fail(batch: readonly BatchPart[], error: ErrandError): void {
    switch (commitFailure(error)) {
      case "again":
        return tryAgain(batch, error);
      case "refused":
        return refuse(batch, error);
      case "stop":
        return stop(batch, error);
    }
  }

  function tryAgain(batch: readonly BatchPart[], error: ErrandError): void {
    const inputs = batch.flatMap(inputsOf);
    for (const input of inputs) input.failures += 1;
    // A conflict leaves no doubt: if the tree now holds an effect of the same key, another writer decided it.
    const doubtful = error.code !== "commit-conflict";
    for (const { loaded, steps } of batch) {
      trees.drop(loaded.id);
      const stepped = steps.map((step) => step.stepped);
      if (doubtful) events.commitInDoubt(loaded.id, stepped);
    }
    retryLater(inputs, error);
    for (const { loaded } of batch) loads.reload(loaded.id);
  }

  /** The store will work again: results wait for it, new work is refused. */
  function retryLater(inputs: readonly QueuedInput[], error: ErrandError): void {
    const worth = inputs.filter((one) => worthAnother(one.submission, one.failures, error));
    for (const one of inputs) if (!worth.includes(one)) queue.reject(one, error);
    requeue(worth);
    pause.failed(error, worth.length > 0);
  }

  /** The store cannot hold something in this commit: each of its trees is tried alone, to find which. */
  function refuse(batch: readonly BatchPart[], error: ErrandError): void {
    const [only] = batch;
    if (only === undefined) return stop([], error);
    const inputs = batch.flatMap(inputsOf);
    if (batch.length === 1) {
      const posts = inputs.filter(({ submission }) => submission.post !== undefined);
      // A reused id is the sender's mistake, not the tree's.
      if (error.code !== "id-reused" || posts.length === 0) return failing.fail(only.loaded.id, inputs, error);
      for (const one of posts) queue.reject(one, error);
    }
    for (const { loaded } of batch) {
      trees.drop(loaded.id);
      failing.suspect(loaded.id);
    }
    requeue(inputs.filter(queue.has));
    // Runs in the dropped trees still hold slots, so the trees are loaded again at once.
    for (const { loaded } of batch) loads.reload(loaded.id);
  }

  /** The commit of these inputs failed, and their trees were dropped. */
  function requeue(inputs: readonly QueuedInput[]): void {
    for (const one of inputs) one.mayBeCommitted = true;
    queue.putBack(inputs);
  }

  function stop(batch: readonly BatchPart[], error: ErrandError): void {
    broken = error;
    for (const part of batch) {
      trees.drop(part.loaded.id);
      for (const one of inputsOf(part)) queue.reject(one, error);
    }
    queue.rejectQueued(error);
    parts.onStopped(error);
  }

  function enter(given: Submission, listener: Listener): void {
    if (broken !== null) return listener.reject(broken);
    queue.add(withoutSecrets(given), listener);
    // New work tries the store at once: its caller learns whether there is room again.
    if (pause.active() && (given.post !== undefined || given.create !== undefined)) pause.end();
    else schedule();
  }

  /** Every input passes here before it is recorded. */
  function withoutSecrets(submission: Submission): Submission {
    const texts = parts.redactor.json(submission.texts);
    const input = parts.redactor.json(submission.input as unknown as Json) as unknown as Submission["input"];
    return texts === submission.texts && input === submission.input ? submission : { ...submission, input, texts };
  }

  return {
    submit: (submission) => new Promise((resolve, reject) => enter(submission, { resolve, reject })),
    submitDetached: (submission, reject) => enter(submission, { resolve: () => {}, reject }),
    acknowledge: (key) => void acknowledged.push(key),
    idle: () => (resting() ? Promise.resolve() : new Promise((resolve) => idlers.push(resolve))),
    paused: pause.active,
    pending: queue.pending,
    resultPending: queue.resultPending,
    async close() {
      await this.idle();
      pause.cancel();
      queue.rejectQueued(new ErrandError("store-closed", "Errand was closed before the store had room for this."));
      if (acknowledged.length > 0 && broken === null) await store.commit({ trees: [], acknowledged });
      acknowledged = [];
    },
  };
}
