/**
 * The store port: journals, mail, blobs, snapshots, outbox and projections of many trees.
 *
 * Promises every store keeps, and `test/conformance/store.ts` checks:
 *  1. `commit` is atomic: all of it is durable when the promise resolves, or nothing is. One with a deferred fsync is by then safe from the death of this
 *     process, and becomes durable with the next that does not, or by `flush`.
 *  2. A commit whose tree is not at the expected epoch and sequence changes no row (`commit-conflict`).
 *  3. Every string comes back as it was put, lone surrogates and NUL included: a store encodes what its database would change.
 *  4. Mail is put once per (tree, id); the same id with another hash is `id-reused`.
 *  5. Nothing here decides anything: the store keeps what it is given.
 */

import type { AgentKind } from "../core/input.ts";
import type { AgentNumber, PostId, StepKey, TreeId } from "../core/values/ids.ts";
import type { ErrandError } from "../errors.ts";
import type { JournalRow, RunPatch, RunRecord, RunState } from "../core/journal/journal.ts";

/**
 * `expired`: only the record is left, as a tombstone. `arriving`: it is being carried here from another store, and runs there until it
 * is here whole.
 */
export type TreeStatus = "open" | "closed" | "quarantined" | "expired" | "arriving";

/** A tree's row: what is known of it without reading its journal. */
export interface TreeRecord {
  readonly id: TreeId;
  readonly agent: string;
  readonly kind: AgentKind;
  readonly status: TreeStatus;
  /** The fence: a commit that names a lower one changes nothing. */
  readonly epoch: number;
  /** The sequence the next row must have; the first row is 1. */
  readonly nextSeq: number;
  /** The chain's hash after the last row. */
  readonly hash: string;
  /** When the tree, which is at rest, wants to be woken, or null. A busy one is in its owner's memory, with its times. */
  readonly wakeAt: number | null;
  /** True while an effect is under way or work is queued: a restart must look at this tree. */
  readonly busy: boolean;
  /** How many questions wait for a user's answer. */
  readonly questions: number;
  /** The journal format this tree was written in. */
  readonly format: number;
  readonly failures: number;
  /** What the last process that wanted to run the tree lacked for it; null once one has everything. */
  readonly unplaced: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** What one tree contributes to a commit. */
export interface TreeCommit {
  readonly tree: TreeId;
  readonly epoch: number;
  /** The tree's `nextSeq` as the writer knows it; the first row of `rows` has this number. */
  readonly expectedSeq: number;
  /** Given with the commit that makes the tree. */
  readonly create?: TreeCreation | undefined;
  readonly rows: readonly JournalRow[];
  readonly status: TreeStatus;
  readonly wakeAt: number | null;
  readonly busy: boolean;
  readonly questions: number;
  readonly at: number;
  readonly blobs: readonly Blob[];
  readonly runs: readonly RunPatch[];
  /** Posts that this commit records, and posts whose turn it ended. */
  readonly posts: readonly PostRecord[];
  readonly postsEnded: readonly { readonly id: PostId; readonly seq: number }[];
  /** Messages for a user that this commit decided. */
  readonly outbox: readonly OutboxMessage[];
  /** Bodies replaced because their texts were erased. */
  readonly erased: readonly { readonly seq: number; readonly body: string | null }[];
  readonly snapshot?: Snapshot | undefined;
}

export interface TreeCreation {
  readonly agent: string;
  readonly kind: AgentKind;
  readonly format: number;
  /** Given with a tombstone from another store: the last of the rows that it had there, none of which is left. */
  readonly last?: { readonly seq: number; readonly hash: string };
}

export interface Commit {
  readonly trees: readonly TreeCommit[];
  /** Outbox messages that a channel has taken since the last commit: they leave the outbox. */
  readonly acknowledged: readonly OutboxKey[];
  /** Nobody was told of any of it, and all of it can be done again: it need not wait for the disk. A store may let it wait all the same. */
  readonly deferFsync?: boolean;
}

export interface Blob {
  /** SHA-256 of `text`, base64url. */
  readonly hash: string;
  readonly text: string;
}

export interface Snapshot {
  /** The last sequence folded into it. */
  readonly seq: number;
  /** The revision of `apply` and of the context builder that made it; another one ignores it. */
  readonly revision: string;
  readonly text: string;
}

/** A post the tree has taken: the index of idempotency, and where its turn's result stands. */
export interface PostRecord {
  readonly id: PostId;
  /** Hash of the content, to tell a repetition from a reuse. */
  readonly hash: string;
  readonly seq: number;
  readonly endedSeq: number | null;
}

/** A request from outside the owner: put by any process, taken by the owner, in the order of its arrival. */
export interface Mail {
  readonly tree: TreeId;
  readonly id: PostId;
  readonly hash: string;
  /** JSON text of an input. */
  readonly payload: string;
}

export type MailPut = { readonly status: "put" | "known" } | { readonly status: "id-reused" };

export interface OutboxKey {
  readonly tree: TreeId;
  readonly key: StepKey;
}

export interface OutboxMessage {
  readonly key: StepKey;
  readonly agent: AgentNumber;
  readonly text: string;
  readonly at: number;
}

export interface TreeQuery {
  readonly status?: TreeStatus;
  /** Only trees in which a question waits for an answer. */
  readonly asking?: true;
  /** Only trees created before this id, newest first: pass the last one to page on. */
  readonly before?: TreeId;
  readonly limit: number;
}

export interface RunQuery {
  readonly tree?: TreeId;
  readonly state?: RunState;
  /** Runs come in spawn order within a tree; newest tree first. */
  readonly limit: number;
}

export type StoredRun = RunRecord & { readonly tree: TreeId };

/** The time base of the store: `at` was the kernel's time when the two clocks read `wall` and `monotonic` in boot `boot`. */
export interface Anchor {
  readonly at: number;
  readonly wall: number;
  readonly monotonic: number;
  readonly boot: string;
}

/** A tree as the process that claimed it knows it. */
export interface OwnedTree {
  readonly tree: TreeId;
  readonly epoch: number;
}

/** What a store adds where several processes run trees of it at the same time, each its own. */
export interface SharedStore {
  /** The time of the store itself, in milliseconds since 1970: the clock of all who share it. */
  now(): number;
  /** False when others may have taken this process for dead: then it must not start anything. */
  alive(): boolean;
  /** The rows of those that exist, in any order: to see how trees that are run elsewhere move on, and what became of one's own. */
  treeRecords(trees: readonly TreeId[]): Promise<readonly TreeRecord[]>;
  /** Gives up trees, unless somebody claimed them since: they are woken where they are, when they have something to do. */
  releaseOwnership(trees: readonly OwnedTree[]): Promise<void>;
  /**
   * From now on this process is told of trees that have something to do and no living owner; it claims them, or another process does that was told
   * too. Returns a function that ends it. `take` never rejects.
   */
  dispatch(take: (tree: TreeId) => Promise<void>, onFailure: (error: unknown) => void): Promise<() => Promise<void>>;
  /** Called whenever this process has been cut off from the store, or stood still for so long that others may have taken its trees. */
  onReturn(listener: () => void): void;
  /**
   * Given how late the periodic duties of this process are, in milliseconds. Once they are late by a lease the others are not told any more that this
   * process lives, and take its trees after another lease.
   */
  dutiesLate(late: () => number): void;
}

/** A process that runs trees of a shared store. */
export interface StoreWorker {
  readonly name: string;
  /** True if it also takes trees that nobody runs. */
  readonly takes: boolean;
}

export interface Store {
  /** For people: what and where this store is. */
  readonly description: string;
  /** Absent where one process owns the whole store. */
  readonly shared?: SharedStore;
  /**
   * Told once when something from outside, such as a lock of another program, holds the store up for long, and once when that is `over`. The store
   * waits and tries again meanwhile. Absent where nothing can.
   */
  onDelay?(listener: (notice: ErrandError, over: boolean) => void): void;
  /** The processes that run trees of a shared store now. */
  workers?(): Promise<readonly StoreWorker[]>;

  commit(commit: Commit): Promise<void>;
  /** Makes commits with a deferred fsync durable. Absent in a store that defers none. */
  flush?(): Promise<void>;

  /**
   * Makes this process the writer of the trees: their epochs rise, so that whoever wrote them before writes no more. Returns the
   * rows of those that exist, with the epoch that commits must name from now on. A store that is owned whole needs no write for
   * it: there the epoch belongs to the owner, an earlier owner is refused every claim and commit, and a tree's row takes the new
   * epoch with its next commit. In a shared store a tree that another living process runs is not claimed, and is left out; in every store so is one
   * that is still arriving, or that was written in a format that this version does not know.
   */
  claim(trees: readonly TreeId[]): Promise<readonly TreeRecord[]>;
  /** Counts a failed claim, and quarantines the tree if told to. A commit leaves the count as it is. */
  markFailure(tree: TreeId, quarantine: boolean): Promise<void>;
  /** Records why this process cannot run the tree, or null when it can. A commit leaves it as it is. */
  markUnplaced(tree: TreeId, reason: string | null): Promise<void>;
  /** Forgets the failures, and reopens a quarantined tree. */
  release(tree: TreeId): Promise<void>;

  tree(id: TreeId): Promise<TreeRecord | null>;
  trees(query: TreeQuery): Promise<readonly TreeRecord[]>;
  /**
   * Open trees that are busy or whose wake time is not after `at`, oldest first: what a restart must look at. Like `due` and
   * `nextWake`, it passes over trees of a format that this version does not know.
   */
  unfinished(at: number): Promise<readonly TreeId[]>;
  /** Open trees whose wake time is not after `at`, the earliest wake time first. */
  due(at: number): Promise<readonly TreeId[]>;
  /** The earliest wake time of an open tree, or null. */
  nextWake(): Promise<number | null>;

  /** Rows `from` and on, in order, at most `limit`. */
  rows(tree: TreeId, from: number, limit: number): Promise<readonly JournalRow[]>;
  blob(tree: TreeId, hash: string): Promise<string | null>;
  /** All blobs of a tree, by their hash. */
  blobs(tree: TreeId): Promise<readonly Blob[]>;
  snapshot(tree: TreeId): Promise<Snapshot | null>;

  /** The run of that id; of several, because a fork repeats its origin's, that of the tree made first. */
  run(id: string): Promise<StoredRun | null>;
  /** The run whose child has this agent id. */
  runOfAgent(agent: string): Promise<StoredRun | null>;
  runs(query: RunQuery): Promise<readonly StoredRun[]>;
  post(tree: TreeId, id: PostId): Promise<PostRecord | null>;
  /** All posts that a tree has taken, by their id. */
  posts(tree: TreeId): Promise<readonly PostRecord[]>;

  /** Durable when it resolves. The tree need not exist yet. */
  putMail(mail: Mail): Promise<MailPut>;
  /** Mail that no commit has taken yet, in the order it was put. A commit takes it by recording its post. */
  pendingMail(limit: number): Promise<readonly Mail[]>;
  /** True when another process may have written since the last call. */
  changed(): Promise<boolean>;

  /**
   * Erases trees that rest since before `before`: journal, blobs, snapshot, projections; their record stays, as `expired`. A tree that is
   * busy, waits for a time or an answer, holds mail, has an outcome that its parent was not told or is of an unknown format is left alone. Returns those that went, at most
   * `limit`.
   */
  expire(before: number, limit: number): Promise<readonly TreeId[]>;

  /** Replaces what the projections say of a tree by what its journal was folded to. */
  replaceProjections(
    tree: TreeId,
    projections: { readonly runs: readonly RunRecord[]; readonly posts: readonly PostRecord[] },
  ): Promise<void>;

  /** Messages that no channel has taken, in the order they were decided. */
  pendingOutbox(tree: TreeId): Promise<readonly OutboxMessage[]>;
  /** Trees that have such messages, oldest first, open or not: what a restart must send again. */
  outboxTrees(): Promise<readonly TreeId[]>;

  /** The journal format in which new trees are written: the newest of the version that made the store, until it is raised. */
  format(): Promise<number>;
  /** It never falls: a store that is further already stays as it is. */
  raiseFormat(format: number): Promise<void>;

  anchor(): Promise<Anchor | null>;
  setAnchor(anchor: Anchor): Promise<void>;

  close(): Promise<void>;
}
