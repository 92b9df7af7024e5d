/**
 * The tables of the store in memory: plain maps, and further maps where a database would have an index.
 *
 * Invariant: nothing is checked here. The caller has checked a commit (`check-commit.ts`) before it applies one.
 */

import type { Blob, PostRecord, Snapshot, StoredRun, TreeCommit, TreeRecord } from "../../contracts/store.ts";
import type { Mail, OutboxMessage } from "../../contracts/store-messages.ts";
import type { PostId, RunNumber, StepKey, TreeId } from "../../core/values/ids.ts";
import type { JournalRow, RunPatch, RunRecord } from "../../core/journal/journal.ts";
import { formatKnown } from "../formats.ts";
import { treeUnknown } from "../refusals.ts";
import { createdRun } from "../run-columns.ts";

/** A tree's record changes in place; readers get a copy. */
type MutableRecord = { -readonly [Member in keyof TreeRecord]: TreeRecord[Member] };

export interface MemoryTree {
  readonly record: MutableRecord;
  readonly rows: JournalRow[];
  readonly blobs: Map<string, Blob>;
  readonly runs: Map<RunNumber, RunRecord>;
  readonly outbox: Map<StepKey, OutboxMessage>;
  snapshot: Snapshot | null;
}

/** A post is mail until a commit records it. */
export interface MemoryPost {
  readonly hash: string;
  readonly mail: Mail | null;
  readonly record: PostRecord | null;
}

export interface MemoryTables {
  readonly trees: ReadonlyMap<TreeId, MemoryTree>;
  /** Not part of `trees`, because mail may name a tree that does not exist yet. */
  readonly posts: ReadonlyMap<TreeId, Map<PostId, MemoryPost>>;
  /** Mail that no commit has recorded yet, in the order of its arrival. */
  readonly pending: Set<Mail>;
  /** Open trees that are busy, and open trees that have a wake time. */
  readonly busy: ReadonlySet<MemoryTree>;
  readonly waking: ReadonlyMap<MemoryTree, number>;
  /** Throws for a tree that does not exist. */
  requireTree(tree: TreeId): MemoryTree;
  run(id: string): StoredRun | null;
  runOfAgent(agent: string): StoredRun | null;
  apply(part: TreeCommit): void;
  changeRecord(tree: MemoryTree, change: Partial<MutableRecord>): void;
  postsOf(tree: TreeId): Map<PostId, MemoryPost>;
  recordPost(tree: TreeId, record: PostRecord): void;
  patchRun(tree: MemoryTree, patch: RunPatch): void;
  /** Deletes everything but the record. */
  expire(tree: MemoryTree): void;
}

export function createMemoryTables(): MemoryTables {
  const trees = new Map<TreeId, MemoryTree>();
  const posts = new Map<TreeId, Map<PostId, MemoryPost>>();
  const pending = new Set<Mail>();
  /**
   * The tree of a run, by the run's id and by its agent's. A fork has the ids of the tree that it copied: they name the
   * first.
   */
  const treesOfRuns = new Map<string, MemoryTree>();
  const busyTrees = new Set<MemoryTree>();
  const wakingTrees = new Map<MemoryTree, number>();

  function requireTree(id: TreeId): MemoryTree {
    const tree = trees.get(id);
    if (tree === undefined) throw treeUnknown(id);
    return tree;
  }

  function changeRecord(tree: MemoryTree, change: Partial<MutableRecord>): void {
    Object.assign(tree.record, change);
    index(tree);
  }

  function index(tree: MemoryTree): void {
    const { record } = tree;
    const open = record.status === "open" && formatKnown(record);
    if (open && record.busy) busyTrees.add(tree);
    else busyTrees.delete(tree);
    if (open && record.wakeAt !== null) wakingTrees.set(tree, record.wakeAt);
    else wakingTrees.delete(tree);
  }

  function postsOf(tree: TreeId): Map<PostId, MemoryPost> {
    const known = posts.get(tree);
    if (known !== undefined) return known;
    const created = new Map<PostId, MemoryPost>();
    posts.set(tree, created);
    return created;
  }

  function recordPost(tree: TreeId, record: PostRecord): void {
    const known = postsOf(tree);
    const mail = known.get(record.id)?.mail ?? null;
    if (mail !== null) pending.delete(mail);
    known.set(record.id, { hash: record.hash, mail: null, record });
  }

  function endPost(tree: TreeId, id: PostId, endedSeq: number): void {
    const record = posts.get(tree)?.get(id)?.record ?? null;
    if (record !== null) recordPost(tree, { ...record, endedSeq });
  }

  function patchRun(tree: MemoryTree, patch: RunPatch): void {
    const known = tree.runs.get(patch.number);
    const run = known === undefined ? createdRun(tree.record.id, patch) : { ...known, ...patch };
    tree.runs.set(run.number, run);
    for (const id of [run.id, run.agent]) if (!treesOfRuns.has(id)) treesOfRuns.set(id, tree);
  }

  function findRun(field: "id" | "agent", id: string): StoredRun | null {
    const tree = treesOfRuns.get(id);
    if (tree === undefined) return null;
    for (const run of tree.runs.values()) if (run[field] === id) return { ...run, tree: tree.record.id };
    return null;
  }

  function createTree(part: TreeCommit, creation: NonNullable<TreeCommit["create"]>): MemoryTree {
    const { tree: id, epoch, status, wakeAt, busy, questions, at } = part;
    const { agent, kind, format, last } = creation;
    const tree: MemoryTree = {
      record: {
        id,
        agent,
        kind,
        status,
        epoch,
        nextSeq: (last?.seq ?? 0) + 1,
        hash: last?.hash ?? "",
        wakeAt,
        busy,
        questions,
        format,
        failures: 0,
        unplaced: null,
        createdAt: at,
        updatedAt: at,
      },
      rows: [],
      blobs: new Map(),
      runs: new Map(),
      outbox: new Map(),
      snapshot: null,
    };
    trees.set(id, tree);
    index(tree);
    return tree;
  }

  function apply(part: TreeCommit): void {
    const tree = part.create === undefined ? requireTree(part.tree) : createTree(part, part.create);
    const { record } = tree;
    for (const row of part.rows) tree.rows.push(row);
    changeRecord(tree, {
      status: part.status,
      epoch: part.epoch,
      nextSeq: record.nextSeq + part.rows.length,
      hash: part.rows.at(-1)?.hash ?? record.hash,
      wakeAt: part.wakeAt,
      busy: part.busy,
      questions: part.questions,
      updatedAt: part.at,
    });
    for (const blob of part.blobs) tree.blobs.set(blob.hash, blob);
    for (const patch of part.runs) patchRun(tree, patch);
    for (const post of part.posts) recordPost(part.tree, post);
    for (const { id, seq } of part.postsEnded) endPost(part.tree, id, seq);
    for (const message of part.outbox) if (!tree.outbox.has(message.key)) tree.outbox.set(message.key, message);
    for (const { seq, body } of part.erased) {
      const row = tree.rows[seq - 1];
      if (row !== undefined) tree.rows[seq - 1] = { ...row, body };
    }
    if (part.snapshot !== undefined) tree.snapshot = part.snapshot;
  }

  function expire(tree: MemoryTree): void {
    changeRecord(tree, { status: "expired" });
    for (const run of tree.runs.values())
      for (const id of [run.id, run.agent]) if (treesOfRuns.get(id) === tree) treesOfRuns.delete(id);
    tree.rows.length = 0;
    tree.blobs.clear();
    tree.runs.clear();
    tree.outbox.clear();
    tree.snapshot = null;
    posts.delete(tree.record.id);
  }

  return {
    trees,
    posts,
    pending,
    busy: busyTrees,
    waking: wakingTrees,
    requireTree,
    run: (id) => findRun("id", id),
    runOfAgent: (agent) => findRun("agent", agent),
    apply,
    changeRecord,
    postsOf,
    recordPost,
    patchRun,
    expire,
  };
}
