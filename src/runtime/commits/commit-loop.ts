/**
 * The commit loop: steps trees whose inputs are ready, commits the steps together, and only then shows them to anybody.
 *
 * Invariants:
 *  1. At most one commit is under way. Inputs that are ready together share it, within the time of a batch (`step-batch.ts`);
 *     between two commits the event loop has a turn, so that I/O, timers and streams stay responsive.
 *  2. No effect, reply, acknowledgement or subscription sees a step before its commit.
 *  3. If a commit fails or its outcome is unknown, its trees are dropped from memory and their inputs are taken again after a load.
 *     A result that was recorded already is late, because it names its effect and attempt; a post is looked up by its id.
 *  4. A tree that the store cannot hold, or whose step throws, stops alone: its inputs are tried again one by one, and after three
 *     failures the tree is quarantined. The other trees of the same commit go on.
 *  5. While the disk is full or the store is busy, commits are tried at a bounded rate: results wait, new work is refused.
 *     After a failed fsync nothing is taken any more.
 */

import type { Commit, OutboxKey, Store, TreeCommit } from "../../contracts/store.ts";
import type { CancelTimer, World } from "../../contracts/world.ts";
import type { StepKey, TreeId } from "../../core/values/ids.ts";
import type { Json } from "../../core/values/json.ts";
import type { ProcessRights } from "../../core/permissions/process-rights.ts";
import { timersNext } from "../../core/values/timers.ts";
import type { Stepped } from "../../core/tree.ts";
import { ErrandError, passesByItself } from "../../errors.ts";
import type { Clock } from "../clock.ts";
import type { Redactor } from "../redaction/redactor.ts";
import type { LoadedTree, TreeCache } from "../trees/tree-cache.ts";
import { commitFailure, quarantined, retryDelay, storeError, worthAnother } from "./commit-failures.ts";
import { createInputQueue, type Listener, type Waiting } from "./input-queue.ts";
import { createLoads } from "./loads.ts";
import type { Scheduler } from "./scheduler.ts";
import { type BatchPart, createStepBatch, inputsOf } from "./step-batch.ts";
import { type Submission, treeCommit } from "./tree-commit.ts";

/** A step that is committed. It is durable too, unless it trails. */
export interface Committed {
  readonly tree: TreeId;
  readonly loaded: LoadedTree;
  readonly stepped: Stepped;
}

export interface CommitLoop {
  /** Resolves when the step is committed, with the reason why the input changed nothing, if it did not. */
  submit(submission: Submission): Promise<string | null>;
  /** The same, for a caller that need not wait for it. */
  take(submission: Submission, onFailure: (error: unknown) => void): void;
  /** Remembers that a channel has taken a message; goes with the next commit. */
  acknowledge(key: OutboxKey): void;
  /** Resolves when nothing can be taken and no commit is under way. */
  idle(): Promise<void>;
  /** True while commits wait for the store to work again. */
  paused(): boolean;
  /** True while an input for this tree is queued or being committed. */
  occupied(tree: TreeId): boolean;
  /** True while the result of this effect is queued or being committed. */
  delivers(tree: TreeId, effect: StepKey): boolean;
  close(): Promise<void>;
}

interface CommitLoopParts {
  readonly store: Store;
  readonly world: World;
  readonly clock: Clock;
  readonly trees: TreeCache;
  readonly scheduler: Scheduler;
  readonly redactor: Redactor;
  /** What agents may do while this process executes them. */
  readonly rights: ProcessRights;
  /** Called in order for every committed step. */
  readonly onCommitted: (committed: Committed) => void;
  /** Called after the steps of a commit were handed on. */
  readonly onSettled: (trees: readonly TreeId[]) => void;
  /** Called when nothing is left to take: a tree that failed may have left slots that no commit offers. */
  readonly onRest: () => void;
  /** It is durable that channels took these messages. */
  readonly onAcknowledged: (keys: readonly OutboxKey[]) => void;
  /** The outcome of a commit is unknown; what these steps decided was not begun. */
  readonly onDoubt: (tree: TreeId, steps: readonly Stepped[]) => void;
  /** A tree failed too often, and waits for a person. */
  readonly onQuarantined: (tree: TreeId, error: ErrandError) => void;
  /** The store failed, and nothing more is taken. */
  readonly onFailure: (error: ErrandError) => void;
  /** Something failed that the process goes on without. */
  readonly onNotice: (error: unknown) => void;
}

export function createCommitLoop(parts: CommitLoopParts): CommitLoop {
  const { store, world, trees, scheduler } = parts;
  const queue = createInputQueue();
  let acknowledged: OutboxKey[] = [];
  let scheduled = false;
  let running = false;
  let broken: ErrandError | null = null;
  /** Failures of the store in a row, and the timer until the next try. */
  let failures = 0;
  let pause: CancelTimer | null = null;
  /** Since when work waits for room on the disk; null while there is room. */
  let fullSince: number | null = null;
  const idlers: (() => void)[] = [];
  /** Trees of a commit that the store refused: each is tried alone until a commit of it succeeds. */
  const suspects = new Set<TreeId>();
  /** Trees whose failure is being written down. */
  let failing = 0;
  const loads = createLoads({ store, trees, queue, onDone: ask, onTransient: pauseAfter, onFailure: parts.onNotice });
  const stepBatch = createStepBatch({ ...parts, queue, loads, suspects, onThrow: failTree });

  function ask(): void {
    if (scheduled || running) return;
    scheduled = true;
    world.soon(() => void takeTurn());
  }

  async function takeTurn(): Promise<void> {
    scheduled = false;
    running = true;
    try {
      if (pause === null) loads.retry();
      const batch = pause === null ? stepBatch() : [];
      if (batch.length > 0) await commitAll(batch);
    } catch (error) {
      stop([], storeError(error));
    }
    running = false;
    if (pause === null && broken === null && resting()) parts.onRest();
    if (queue.size() > 0 && pause === null) ask();
    else if (idlers.length > 0 && resting()) for (const resolve of idlers.splice(0)) resolve();
  }

  function resting(): boolean {
    const nothing = queue.size() === 0 || pause !== null;
    return nothing && !scheduled && !running && loads.count() === 0 && failing === 0;
  }

  function pauseAfter(error: ErrandError): void {
    failures += 1;
    const delay = retryDelay(error, failures);
    if (delay > 0) pause ??= world.after(delay, resume);
  }

  function resume(): void {
    pause?.();
    pause = null;
    ask();
  }

  /** A part that cannot be put into rows fails alone. */
  function writable(batch: readonly BatchPart[]): readonly (readonly [BatchPart, TreeCommit])[] {
    return batch.flatMap((part) => {
      try {
        return [[part, treeCommit(part, trees)] as const];
      } catch (error) {
        failTree(part.loaded.id, inputsOf(part), error);
        return [];
      }
    });
  }

  async function commitAll(given: readonly BatchPart[]): Promise<void> {
    const written = writable(given);
    const batch = written.map(([part]) => part);
    const acks = acknowledged;
    acknowledged = [];
    const trails = acks.length === 0 && batch.every(({ steps }) => steps.every(({ stepped }) => stepped.trails));
    const commit: Commit = { trees: written.map(([, rows]) => rows), acknowledged: acks, trails };
    try {
      if (batch.length > 0 || acks.length > 0) await store.commit(commit);
    } catch (error) {
      acknowledged = [...acks, ...acknowledged];
      return fail(batch, storeError(error));
    }
    failures = 0;
    if (fullSince !== null) tellRoom(fullSince);
    parts.onAcknowledged(acks);
    for (const [part, { snapshot }] of written) handOn(part, snapshot);
    parts.onSettled(batch.map((part) => part.loaded.id));
  }

  function handOn({ loaded, steps }: BatchPart, snapshot: TreeCommit["snapshot"]): void {
    suspects.delete(loaded.id);
    const last = steps.at(-1)?.stepped.row;
    if (last !== undefined) loaded.durable = { seq: last.seq, hash: last.hash };
    if (snapshot !== undefined) {
      loaded.snapshotSeq = snapshot.seq;
      loaded.snapshotLength = snapshot.text.length;
      loaded.rowsLength = 0;
    }
    scheduler.wakeAt(timersNext(loaded.tree.state.timers));
    for (const { waiting, stepped } of steps) {
      parts.onCommitted({ tree: loaded.id, loaded, stepped });
      if (waiting !== null) queue.resolve(waiting, stepped.decision.rejected);
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
    const waiting = batch.flatMap(inputsOf);
    for (const one of waiting) one.failures += 1;
    // A conflict is not in doubt: an effect of the same key that its tree holds now is another writer's.
    const doubtful = error.code !== "commit-conflict";
    for (const { loaded, steps } of batch) {
      trees.drop(loaded.id);
      if (doubtful)
        parts.onDoubt(
          loaded.id,
          steps.map(({ stepped }) => stepped),
        );
    }
    tryLater(waiting, error);
    for (const { loaded } of batch) loads.comeBack(loaded.id);
  }

  /** The store works again later: results wait for it, new work is refused. */
  function tryLater(inputs: readonly Waiting[], error: ErrandError): void {
    const worth = inputs.filter((one) => worthAnother(one.submission, one.failures, error));
    for (const one of inputs) if (!worth.includes(one)) queue.reject(one, error);
    takeBack([], worth);
    if (worth.length > 0) tellFull(error);
    pauseAfter(error);
  }

  /** Who asks for new work is refused, and knows. That work under way waits for room has to be told, once. */
  function tellFull(error: ErrandError): void {
    if (error.code !== "store-full" || fullSince !== null) return;
    fullSince = world.monotonic();
    parts.onNotice(error);
  }

  function tellRoom(since: number): void {
    fullSince = null;
    const seconds = Math.round((world.monotonic() - since) / 1_000);
    const message = `The store has room again after ${seconds} s. What waited goes on.`;
    parts.onNotice(new ErrandError("store-full", message, { details: { over: true } }));
  }

  /** The store cannot hold something of this commit: each of its trees is tried alone, to find which. */
  function refuse(batch: readonly BatchPart[], error: ErrandError): void {
    const [only] = batch;
    if (only === undefined) return stop([], error);
    const inputs = batch.flatMap(inputsOf);
    if (batch.length === 1) {
      const posts = inputs.filter(({ submission }) => submission.post !== undefined);
      // Reusing an id is the fault of the sender, not of the tree.
      if (error.code !== "id-reused" || posts.length === 0) return failTree(only.loaded.id, inputs, error);
      for (const one of posts) queue.reject(one, error);
    }
    const ids = batch.map(({ loaded }) => loaded.id);
    for (const id of ids) {
      trees.drop(id);
      suspects.add(id);
    }
    takeBack(ids, inputs.filter(queue.has));
  }

  /** The trees of these inputs were dropped: runs in them still hold slots, so they are loaded again at once. */
  function takeBack(ids: readonly TreeId[], inputs: readonly Waiting[]): void {
    for (const one of inputs) one.unsure = true;
    queue.putBack(inputs);
    for (const id of ids) loads.comeBack(id);
  }

  /** Counts a failure of this tree alone. Its inputs are tried again, one by one, until the tree is quarantined. */
  function failTree(id: TreeId, inputs: readonly Waiting[], error: unknown): void {
    suspects.add(id);
    failing += 1;
    trees
      .fail(id)
      .then(
        (record) => {
          const gone = record === null || record.quarantined;
          const why = record === null ? error : quarantined(id, record.failures, error);
          if (!gone) return takeBack([], inputs);
          suspects.delete(id);
          for (const one of inputs) queue.reject(one, why);
          if (record !== null && why instanceof ErrandError) parts.onQuarantined(id, why);
        },
        (cause: unknown) => {
          if (passesByItself(cause)) return tryLater(inputs, storeError(cause));
          for (const one of inputs) queue.reject(one, error);
          parts.onNotice(cause);
        },
      )
      .finally(() => {
        failing -= 1;
        ask();
      });
  }

  function stop(batch: readonly BatchPart[], error: ErrandError): void {
    broken = error;
    for (const part of batch) {
      trees.drop(part.loaded.id);
      for (const one of inputsOf(part)) queue.reject(one, error);
    }
    queue.rejectQueued(error);
    parts.onFailure(error);
  }

  function enter(given: Submission, listener: Listener): void {
    if (broken !== null) return listener.reject(broken);
    queue.add(withoutSecrets(given), listener);
    // Whoever asks for new work finds out at once whether the store has room again.
    if (pause !== null && (given.post !== undefined || given.create !== undefined)) resume();
    else ask();
  }

  /** Every input comes by here before it is recorded. */
  function withoutSecrets(submission: Submission): Submission {
    const texts = parts.redactor.json(submission.texts);
    const input = parts.redactor.json(submission.input as unknown as Json) as unknown as Submission["input"];
    return texts === submission.texts && input === submission.input ? submission : { ...submission, input, texts };
  }

  return {
    submit: (submission) => new Promise((resolve, reject) => enter(submission, { resolve, reject })),
    take: (submission, onFailure) => enter(submission, { resolve: () => {}, reject: onFailure }),
    acknowledge: (key) => void acknowledged.push(key),
    idle: () => (resting() ? Promise.resolve() : new Promise((resolve) => idlers.push(resolve))),
    paused: () => pause !== null,
    occupied: queue.occupied,
    delivers: queue.delivers,
    async close() {
      await this.idle();
      pause?.();
      queue.rejectQueued(new ErrandError("store-closed", "Errand was closed before the store had room for this."));
      if (acknowledged.length > 0 && broken === null) await store.commit({ trees: [], acknowledged });
      acknowledged = [];
    },
  };
}
