/**
 * The store port: journals, mail, blobs, snapshots, outbox and projections of many trees.
 *
 * Promises of every store, which `test/conformance/store.ts` checks:
 *  1. `commit` is atomic: when the promise resolves, all of it is durable, or nothing is. A commit with a deferred
 *     fsync survives a crash of this process, and becomes durable with the next commit that does not defer, or with
 *     `flush`.
 *  2. A commit whose tree is not at the expected epoch and sequence changes no row (`commit-conflict`).
 *  3. Every string is returned unchanged, with lone surrogates and NUL: a store encodes what its database would change.
 *  4. Mail is put once for each tree and id; the same id with another hash is `id-reused`.
 *  5. A store decides nothing. It keeps what it is given.
 */

import type { AgentKind } from "../core/input.ts";
import type { PostId, StepKey, TreeId } from "../core/values/ids.ts";
import type { ErrandError } from "../errors.ts";
import type { Mail, MailPut, OutboxMessage } from "./store-messages.ts";
import type { JournalRow, RunPatch, RunRecord, RunState } from "../core/journal/journal.ts";

/**
 * `expired`: only the record is left. `arriving`: the tree is being moved here, and runs elsewhere until the move ends.
 */
export type TreeStatus = "open" | "closed" | "quarantined" | "expired" | "arriving";

/** A tree's row: what is known without reading its journal. */
export interface TreeRecord {
  readonly id: TreeId;
  readonly agent: string;
  readonly kind: AgentKind;
  readonly status: TreeStatus;
  /** A fencing token: a commit with a lower epoch changes nothing. */
  readonly epoch: number;
  /** The sequence of the next row; the first row is 1. */
  readonly nextSeq: number;
  /** The chain's hash after the last row. */
  readonly hash: string;
  /** When an idle tree wants to be woken, or null. The owner of a busy tree has its timers in memory. */
  readonly wakeAt: number | null;
  /** True while an effect runs or work is queued: a restart must load this tree. */
  readonly busy: boolean;
  /** How many questions wait for a user's answer. */
  readonly questions: number;
  /** The journal format this tree was written in. */
  readonly format: number;
  readonly failures: number;
  /** What the last process that tried to run the tree lacked; null if it lacked nothing. */
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
  /** Only in the commit that creates the tree. */
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

/** What a store records of a new tree. */
export interface TreeCreation {
  readonly agent: string;
  readonly kind: AgentKind;
  readonly format: number;
  /** For an expired tree from another store: its last row there. None of its rows is left. */
  readonly last?: { readonly seq: number; readonly hash: string };
}

/** What a store writes at once. */
export interface Commit {
  readonly trees: readonly TreeCommit[];
  /** Outbox messages that a channel has taken since the last commit: they leave the outbox. */
  readonly acknowledged: readonly OutboxKey[];
  /**
   * The commit has no external effect and can be repeated, so it need not wait for the disk. A store may wait anyway.
   */
  readonly deferFsync?: boolean;
}

/** A definition, stored once under its hash. */
export interface Blob {
  /** SHA-256 of `text`, base64url. */
  readonly hash: string;
  readonly text: string;
}

/** A tree as it was after a row. */
export interface Snapshot {
  /** The last sequence folded into it. */
  readonly seq: number;
  /** The revision of `apply` and of the context builder that wrote it. Another revision ignores it. */
  readonly revision: string;
  readonly text: string;
}

/** A post that the tree has taken, and the row that ended its turn. */
export interface PostRecord {
  readonly id: PostId;
  /** Hash of the content: the same id with another hash is a reuse. */
  readonly hash: string;
  readonly seq: number;
  readonly endedSeq: number | null;
}

/** Names a message for the user. */
export interface OutboxKey {
  readonly tree: TreeId;
  readonly key: StepKey;
}

/** Which trees are listed. */
export interface TreeQuery {
  readonly status?: TreeStatus;
  /** Only trees in which a question waits for an answer. */
  readonly asking?: true;
  /** Only trees created before this id, newest first: pass the last one to page on. */
  readonly before?: TreeId;
  readonly limit: number;
}

/** Which runs are listed. */
export interface RunQuery {
  readonly tree?: TreeId;
  readonly state?: RunState;
  /** Runs come in spawn order within a tree; newest tree first. */
  readonly limit: number;
}

/** The record of a run. */
export type StoredRun = RunRecord & { readonly tree: TreeId };

/** The kernel's time was `at` when the two clocks showed `wall` and `monotonic` in boot `boot`. */
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

/** What a store adds if several processes run trees of it at the same time. Each tree has one owner. */
export interface SharedStore {
  /** The time of the store itself, in milliseconds since 1970: all its workers use it. */
  now(): number;
  /** False when other workers may have taken this process for dead: then it must start no effect. */
  alive(): boolean;
  /** The rows of those trees that exist, in any order. */
  treeRecords(trees: readonly TreeId[]): Promise<readonly TreeRecord[]>;
  /** Gives up trees, unless another process has claimed them since. They are dispatched again when they have work. */
  releaseOwnership(trees: readonly OwnedTree[]): Promise<void>;
  /**
   * From now on calls `take` with trees that have work and no living owner. Several processes may get the same tree;
   * one of them claims it. Returns a function that ends the dispatch. `take` never rejects.
   */
  dispatch(take: (tree: TreeId) => Promise<void>, onFailure: (error: unknown) => void): Promise<() => Promise<void>>;
  /** Calls the listener after this process was cut off, or blocked for so long that others may have taken its trees. */
  onReturn(listener: () => void): void;
  /**
   * `late`: by how many milliseconds the periodic duties of this process are late. If they are late by a lease, the
   * process stops renewing its own lease, and the others take its trees after another one.
   */
  dutiesLate(late: () => number): void;
}

/** A process that runs trees of a shared store. */
export interface StoreWorker {
  readonly name: string;
  /** True if it also takes trees that no process runs. */
  readonly takes: boolean;
}

/** Methods that only read, for every process. */
export interface StoreReads {
  tree(id: TreeId): Promise<TreeRecord | null>;
  trees(query: TreeQuery): Promise<readonly TreeRecord[]>;
  /**
   * Open trees that are busy or whose wake time is not after `at`, oldest first: a restart must load them. Like `due`
   * and `nextWake`, it leaves out trees of a format that this version does not know.
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

  /** The run with this id. A fork repeats the runs of its origin: then the run of the older tree. */
  run(id: string): Promise<StoredRun | null>;
  /** The run whose child has this agent id. */
  runOfAgent(agent: string): Promise<StoredRun | null>;
  runs(query: RunQuery): Promise<readonly StoredRun[]>;
  post(tree: TreeId, id: PostId): Promise<PostRecord | null>;
  /** All posts that a tree has taken, by their id. */
  posts(tree: TreeId): Promise<readonly PostRecord[]>;

  /** Mail that no commit has taken yet, in the order it was put. A commit takes it by recording its post. */
  pendingMail(limit: number): Promise<readonly Mail[]>;

  /** Messages that no channel has taken, in the order they were decided. */
  pendingOutbox(tree: TreeId): Promise<readonly OutboxMessage[]>;
  /** Trees that have such messages, oldest first, open or not. */
  outboxTrees(): Promise<readonly TreeId[]>;

  /** The journal format of new trees: the newest one of the version that created the store, until it is raised. */
  format(): Promise<number>;
  anchor(): Promise<Anchor | null>;
}

/** Methods that write, for processes that run trees. Every process may also put mail. */
export interface StoreWrites {
  commit(commit: Commit): Promise<void>;
  /**
   * Makes this process the writer of the trees. Their epochs rise, so an earlier writer cannot commit any more. Returns
   * the rows of the claimed trees, with the epoch that commits must name from now on. Not claimed: a tree that another
   * living process runs, that is still arriving, or that has a format which this version does not know.
   *
   * A store with one owner needs no write for a claim: the epoch belongs to the owner, every claim and commit of an
   * earlier owner is refused, and a tree's row gets the new epoch with its next commit.
   */
  claim(trees: readonly TreeId[]): Promise<readonly TreeRecord[]>;
  /** Counts a failure of the tree, and quarantines it if asked to. A commit does not change the count. */
  markFailure(tree: TreeId, quarantine: boolean): Promise<void>;
  /** Records why this process cannot run the tree, or null if it can. A commit does not change it. */
  markUnplaced(tree: TreeId, reason: string | null): Promise<void>;
  /** Resets the count of failures, and reopens a quarantined tree. */
  release(tree: TreeId): Promise<void>;

  /**
   * Erases at most `limit` trees that have been idle since before `before`, and returns them. The record stays, as
   * `expired`. A tree is kept if it is busy, waits for a time or an answer, has mail, has an outcome that its parent
   * has not read, or has an unknown format.
   */
  expire(before: number, limit: number): Promise<readonly TreeId[]>;

  /** Replaces the projections of a tree by what its journal was folded to. */
  replaceProjections(
    tree: TreeId,
    projections: { readonly runs: readonly RunRecord[]; readonly posts: readonly PostRecord[] },
  ): Promise<void>;

  /** The format is never lowered. */
  raiseFormat(format: number): Promise<void>;
  setAnchor(anchor: Anchor): Promise<void>;
}

/** Where journals are kept. What a store promises is in the file's header. */
export interface Store extends StoreReads, StoreWrites {
  /** What and where this store is, for people. */
  readonly description: string;
  /** Absent if one process owns the whole store. */
  readonly shared?: SharedStore;
  /**
   * Calls the listener when something from outside, such as a lock of another program, delays the store for long, and
   * again when that is `over`. The store retries meanwhile. Absent if nothing can delay it.
   */
  onDelay?(listener: (notice: ErrandError, over: boolean) => void): void;
  /** The processes that run trees of a shared store now. */
  workers?(): Promise<readonly StoreWorker[]>;

  /** Makes commits with a deferred fsync durable. Absent in a store that defers none. */
  flush?(): Promise<void>;

  /** Durable when it resolves. The tree need not exist yet. */
  putMail(mail: Mail): Promise<MailPut>;
  /** True when another process may have written since the last call. */
  changed(): Promise<boolean>;

  close(): Promise<void>;
}
