/**
 * The commit loop: takes the inputs that are ready, steps their trees, commits all of it at once, and only then lets anybody see it.
 *
 * Invariants:
 *  1. At most one commit at a time; what is ready together shares it (`turn-taking.ts`).
 *  2. No effect, reply, acknowledgement or subscription sees a step before its commit.
 *  3. If a commit fails, or nobody knows whether it did, the trees of the batch are dropped from memory and their inputs are taken again
 *     after a load. A result that was taken already is late, because it names its effect and attempt; a post is looked up by its id.
 *  4. A tree's first step in this process records the rights of this process, if the tree holds others (rule A9): nothing is decided here under the
 *     rights of another process.
 *  5. After a failed fsync nothing is taken any more. While the disk is full new work is refused, and results wait.
 */

import type { Commit, OutboxKey, Store } from "../../contracts/store.ts";
import type { World } from "../../contracts/world.ts";
import { SALT_DIGITS, SEED_DIGITS, type StepKey, type TreeId } from "../../core/ids.ts";
import type { Json } from "../../core/json.ts";
import type { ProcessRights } from "../../core/permissions/process-rights.ts";
import { judgedAnswer } from "../../core/questions/judged-answer.ts";
import { headRead } from "../../core/row.ts";
import { timersNext } from "../../core/timers.ts";
import { type Stepped, treeStep } from "../../core/tree.ts";
import { ErrandError } from "../../errors.ts";
import type { Clock } from "../clock.ts";
import { retryable, storeError, worthAnother } from "./commit-failures.ts";
import type { Redactor } from "../redaction/redactor.ts";
import { type Scheduler, slotWait } from "./scheduler.ts";
import type { LoadedTree, TreeCache } from "../trees/tree-cache.ts";
import { type CommitPart, type Submission, treeCommit } from "./tree-commit.ts";
import { createTurnTaking } from "./turn-taking.ts";

/** A step that is committed. It is durable too, unless it trails. */
export interface Committed {
  readonly tree: TreeId;
  readonly loaded: LoadedTree;
  readonly stepped: Stepped;
}

interface Waiting {
  readonly submission: Submission;
  /** Told why the input changed nothing, or null. */
  readonly resolve: (late: string | null) => void;
  readonly reject: (error: unknown) => void;
  /** How often its commit failed. */
  failures: number;
  /** True from a failed commit until it was looked up whether that became durable all the same. */
  unsure: boolean;
}

/** An input that was taken, and what came of it. */
interface Taken {
  /** Null for the step that the loop takes by itself. */
  readonly waiting: Waiting | null;
  readonly submission: Submission;
  readonly stepped: Stepped;
}

type Part = CommitPart<Taken>;

export interface CommitLoop {
  /** Resolves when the step is committed, with the reason why the input changed nothing, if it did not. */
  submit(submission: Submission): Promise<string | null>;
  /** The same, for those who need not wait for it. */
  take(submission: Submission, onFailure: (error: unknown) => void): void;
  /** Remembers that a channel has taken a message; goes with the next commit. */
  acknowledge(key: OutboxKey): void;
  /** Resolves when nothing is queued or being committed. */
  idle(): Promise<void>;
  /** True while an input for this tree is queued or being committed. */
  occupied(tree: TreeId): boolean;
  /** True while the result of this effect is queued or being committed. */
  brings(tree: TreeId, effect: StepKey): boolean;
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
  /** It is durable that channels took these messages. */
  readonly onAcknowledged: (keys: readonly OutboxKey[]) => void;
  /** A commit failed, and nobody knows whether it became durable: what these steps decided was not begun. */
  readonly onDoubt: (tree: TreeId, steps: readonly Stepped[]) => void;
  /** A failure of the store that nobody waits for, or that makes going on unsafe. */
  readonly onFailure: (error: ErrandError) => void;
}

const FULL_RETRY_MS = 1_000;

export function createCommitLoop(parts: CommitLoopParts): CommitLoop {
  const { store, world, clock, trees, scheduler } = parts;
  let queue: Waiting[] = [];
  let acknowledged: OutboxKey[] = [];
  let loading = 0;
  let broken: ErrandError | null = null;
  const idlers: (() => void)[] = [];
  const rightsText = JSON.stringify(parts.rights);
  /** Inputs that are queued or being committed. */
  const open = new Map<TreeId, Waiting[]>();

  const turns = createTurnTaking({ world, take, more: () => queue.length > 0, onRest: settled });

  async function take(): Promise<number> {
    const batch = stepAll();
    if (batch.length === 0 || (await commitAll(batch))) return Number.POSITIVE_INFINITY;
    return batch.reduce((inputs, part) => inputs + part.steps.length, 0);
  }

  function settled(): void {
    if (loading === 0 && idlers.length > 0) for (const resolve of idlers.splice(0)) resolve();
  }

  /** Steps every tree that has an input and is in memory; loads those that are not. */
  function stepAll(): Part[] {
    const taken = queue;
    queue = [];
    const batch = new Map<TreeId, Part>();
    for (const waiting of taken) {
      const { tree: id, create } = waiting.submission;
      const loaded = trees.get(id) ?? (create === undefined ? undefined : trees.begin(id));
      if (loaded === undefined || waiting.unsure) {
        load(waiting);
        continue;
      }
      const part = batch.get(id) ?? { loaded, expectedSeq: loaded.tree.state.seq + 1, steps: [] };
      batch.set(id, part);
      try {
        const { submission } = waiting;
        const first = rightsOwed(loaded);
        if (first !== null) part.steps.push({ waiting: null, submission: first, stepped: step(loaded, first) });
        part.steps.push({ waiting, submission, stepped: step(loaded, submission) });
      } catch (error) {
        batch.delete(id);
        abandon(id, [...part.steps.map((taken) => taken.waiting), waiting], error);
      }
    }
    return [...batch.values()];
  }

  /** The step that must come before any other: the tree holds the rights of another process. */
  function rightsOwed({ id, tree }: LoadedTree): Submission | null {
    const { settings, rights, agents } = tree.state;
    if (rights === parts.rights || settings === null || agents.size === 0) return null;
    if (JSON.stringify(rights) === rightsText) return null;
    return { tree: id, input: { type: "rights-changed", rights: parts.rights }, texts: [] };
  }

  function step(loaded: LoadedTree, { input: given, texts }: Submission): Stepped {
    const { tree } = loaded;
    const input = judgedAnswer(tree, given);
    const held = tree.state.running;
    const at = Math.max(clock.now(), tree.state.at);
    const offered = input.type === "slots-offered";
    const slots = scheduler.free(loaded.id, offered);
    const stepped = treeStep(
      tree,
      { at, seed: world.random(SEED_DIGITS), slots, input, texts },
      world.random(SALT_DIGITS),
    );
    const taken = tree.state.running - held;
    scheduler.moved(loaded.id, taken, slotWait(tree.state.queued, stepped.decision.slotsLacked, offered));
    return stepped;
  }

  /** The kernel threw, which is a bug: the tree stops alone. */
  function abandon(id: TreeId, waiting: readonly (Waiting | null)[], error: unknown): void {
    void trees.fail(id).catch((cause: unknown) => parts.onFailure(storeError(cause)));
    for (const one of waiting) if (one !== null) finish(one).reject(error);
  }

  function load(waiting: Waiting): void {
    loading += 1;
    loadFor(waiting)
      .then(
        (recorded) => {
          if (recorded === undefined) queue.push(waiting);
          else finish(waiting).resolve(recorded);
        },
        (error: unknown) => finish(waiting).reject(error),
      )
      .finally(() => {
        loading -= 1;
        turns.ask();
      });
  }

  /** Loads the tree. A post whose first commit failed may have been recorded all the same: then its result is known. */
  async function loadFor(waiting: Waiting): Promise<string | null | undefined> {
    const { tree, post } = waiting.submission;
    await trees.load(tree);
    // Where others run trees too, one of them may have taken it before this process had the tree.
    const unsure = waiting.unsure || store.shared !== undefined;
    const known = post === undefined || !unsure ? null : await store.post(tree, post.id);
    waiting.unsure = false;
    if (known === null) return undefined;
    const [row] = await store.rows(tree, known.seq, 1);
    return row === undefined ? null : (headRead(row.head).late ?? null);
  }

  /** Resolves with false if it was committed without waiting for anything outside the process. */
  async function commitAll(batch: readonly Part[]): Promise<boolean> {
    const acks = acknowledged;
    acknowledged = [];
    const trails = acks.length === 0 && batch.every(({ steps }) => steps.every(({ stepped }) => stepped.trails));
    const commit: Commit = { trees: batch.map((part) => treeCommit(part, trees)), acknowledged: acks, trails };
    try {
      await store.commit(commit);
    } catch (error) {
      acknowledged = [...acks, ...acknowledged];
      fail(batch, storeError(error));
      return true;
    }
    parts.onAcknowledged(acks);
    let index = 0;
    for (const { loaded, steps } of batch) {
      const snapshot = commit.trees[index]?.snapshot;
      index += 1;
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
        if (waiting !== null) finish(waiting).resolve(stepped.decision.late);
      }
    }
    parts.onSettled(batch.map((part) => part.loaded.id));
    return store.waits === "always" || (store.waits === "unless-it-trails" && !trails);
  }

  /** Takes it from those under way; whoever waits is to be told. */
  function finish(waiting: Waiting): Waiting {
    const { tree } = waiting.submission;
    const mine = open.get(tree);
    // They mostly end in the order in which they came.
    if (mine?.length === 1) open.delete(tree);
    else mine?.splice(mine.indexOf(waiting), 1);
    return waiting;
  }

  function fail(batch: readonly Part[], error: ErrandError): void {
    for (const { loaded, steps } of batch) {
      trees.drop(loaded.id);
      const decided = steps.map((one) => one.stepped);
      // A refused commit is not in doubt: an effect of the same key that its tree holds now is another writer's.
      if (error.code !== "commit-conflict") parts.onDoubt(loaded.id, decided);
      for (const { waiting: one } of steps) {
        if (one === null) continue;
        one.failures += 1;
        one.unsure = true;
        if (!worthAnother(one.submission, one.failures, error)) finish(one).reject(error);
        else if (error.code === "store-full") world.after(FULL_RETRY_MS, () => enqueue(one));
        else queue.push(one);
      }
    }
    if (retryable(error)) return comeBack(batch);
    broken = error;
    for (const one of queue.splice(0)) finish(one).reject(error);
    parts.onFailure(error);
  }

  /** What runs in a dropped tree holds slots all the same: it is counted again once the tree is back, whether or not somebody asks for it. */
  function comeBack(batch: readonly Part[]): void {
    for (const { loaded } of batch) {
      loading += 1;
      trees
        .load(loaded.id)
        .catch((error: unknown) => {
          const gone = error instanceof ErrandError && (error.code === "tree-unknown" || error.code === "tree-owned");
          if (!gone) parts.onFailure(storeError(error));
        })
        .finally(() => {
          loading -= 1;
          turns.ask();
        });
    }
  }

  function enqueue(waiting: Waiting): void {
    queue.push(waiting);
    turns.ask();
  }

  function enter(given: Submission, resolve: Waiting["resolve"], reject: Waiting["reject"]): void {
    if (broken !== null) return reject(broken);
    const submission = withoutSecrets(given);
    const waiting: Waiting = { submission, resolve, reject, failures: 0, unsure: false };
    const mine = open.get(submission.tree);
    if (mine === undefined) open.set(submission.tree, [waiting]);
    else mine.push(waiting);
    enqueue(waiting);
  }

  /** Every input comes by here before it is recorded. */
  function withoutSecrets(submission: Submission): Submission {
    const texts = parts.redactor.json(submission.texts);
    const input = parts.redactor.json(submission.input as unknown as Json) as unknown as Submission["input"];
    return texts === submission.texts && input === submission.input ? submission : { ...submission, input, texts };
  }

  return {
    submit: (submission) => new Promise((resolve, reject) => enter(submission, resolve, reject)),
    take: (submission, onFailure) => enter(submission, () => {}, onFailure),
    acknowledge: (key) => void acknowledged.push(key),
    idle: () =>
      queue.length === 0 && !turns.busy() && loading === 0
        ? Promise.resolve()
        : new Promise((resolve) => idlers.push(resolve)),
    occupied: (tree) => open.has(tree),
    brings(tree, effect) {
      for (const { submission } of open.get(tree) ?? []) {
        if ("effect" in submission.input && submission.input.effect === effect) return true;
      }
      return false;
    },
    async close() {
      await this.idle();
      if (acknowledged.length > 0 && broken === null) await store.commit({ trees: [], acknowledged });
      acknowledged = [];
    },
  };
}
