/**
 * What the store in memory holds: plain maps, those that would be indexes in a database among them, and how they change together.
 *
 * Invariant: a commit is not checked here. Whoever applies one has done that (`check-commit.ts`).
 */

import type {
  Blob,
  Mail,
  OutboxMessage,
  PostRecord,
  Snapshot,
  StoredRun,
  TreeCommit,
  TreeRecord,
} from "../../contracts/store.ts";
import type { PostId, RunNumber, StepKey, TreeId } from "../../core/values/ids.ts";
import type { JournalRow, RunPatch, RunRecord } from "../../core/journal/journal.ts";
import { formatKnown } from "../formats.ts";
import { treeUnknown } from "../refusals.ts";
import { madeRun } from "../run-patches.ts";

/** A tree's record as it is kept: it changes in place, and whoever asks gets a copy. */
type KeptRecord = { -readonly [Member in keyof TreeRecord]: TreeRecord[Member] };

export interface MemoryTree {
  readonly record: KeptRecord;
  readonly rows: JournalRow[];
  /** A definition may stand in it more than once. */
  blobs: readonly Blob[];
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

interface RunPlace {
  readonly tree: MemoryTree;
  readonly number: RunNumber;
}

export interface MemoryTables {
  readonly trees: ReadonlyMap<TreeId, MemoryTree>;
  /** They stand apart from trees: mail may name a tree that is not made yet. */
  readonly posts: ReadonlyMap<TreeId, Map<PostId, MemoryPost>>;
  /** Mail that no commit has recorded yet, in the order in which it came. */
  readonly pending: Set<Mail>;
  /** Open trees that are busy, and open trees that have a wake time. */
  readonly busy: ReadonlySet<MemoryTree>;
  readonly waking: ReadonlyMap<MemoryTree, number>;
  known(tree: TreeId): MemoryTree;
  run(id: string): StoredRun | null;
  runOfAgent(agent: string): StoredRun | null;
  apply(part: TreeCommit): void;
  changeRecord(tree: MemoryTree, change: Partial<KeptRecord>): void;
  postsOf(tree: TreeId): Map<PostId, MemoryPost>;
  recordPost(tree: TreeId, record: PostRecord): void;
  patchRun(tree: MemoryTree, patch: RunPatch): void;
  /** Leaves the record alone, as a tombstone. */
  bury(tree: MemoryTree): void;
}

export function createMemoryTables(): MemoryTables {
  const trees = new Map<TreeId, MemoryTree>();
  const posts = new Map<TreeId, Map<PostId, MemoryPost>>();
  const pending = new Set<Mail>();
  const runsById = new Map<string, RunPlace>();
  const runsByAgent = new Map<string, RunPlace>();
  /** Runs that the two above do not know yet: they are told when somebody asks, because most runs are never asked for by their id. */
  const unindexed: RunPlace[] = [];
  const busy = new Set<MemoryTree>();
  const waking = new Map<MemoryTree, number>();

  function known(id: TreeId): MemoryTree {
    const tree = trees.get(id);
    if (tree === undefined) throw treeUnknown(id);
    return tree;
  }

  function changeRecord(tree: MemoryTree, change: Partial<KeptRecord>): void {
    Object.assign(tree.record, change);
    index(tree);
  }

  function index(tree: MemoryTree): void {
    const { record } = tree;
    const open = record.status === "open" && formatKnown(record);
    if (open && record.busy) busy.add(tree);
    else busy.delete(tree);
    if (open && record.wakeAt !== null) waking.set(tree, record.wakeAt);
    else waking.delete(tree);
  }

  function postsOf(tree: TreeId): Map<PostId, MemoryPost> {
    const known = posts.get(tree);
    if (known !== undefined) return known;
    const made = new Map<PostId, MemoryPost>();
    posts.set(tree, made);
    return made;
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
    const run = known === undefined ? madeRun(tree.record.id, patch) : { ...known, ...patch };
    tree.runs.set(run.number, run);
    if (known?.id !== run.id || known.agent !== run.agent) unindexed.push({ tree, number: run.number });
  }

  /** A fork repeats the ids of the tree it came from: those name the first. */
  function indexRuns(): void {
    for (const place of unindexed.splice(0)) {
      const run = place.tree.runs.get(place.number);
      if (run === undefined) continue;
      if (runAt(runsById.get(run.id), ({ id }) => id === run.id) === null) runsById.set(run.id, place);
      if (runAt(runsByAgent.get(run.agent), ({ agent }) => agent === run.agent) === null)
        runsByAgent.set(run.agent, place);
    }
  }

  /** The run that an index names, if the index still tells the truth of it. */
  function runAt(place: RunPlace | undefined, is: (run: RunRecord) => boolean): StoredRun | null {
    const run = place?.tree.runs.get(place.number);
    return place === undefined || run === undefined || !is(run) ? null : { ...run, tree: place.tree.record.id };
  }

  function madeTree(part: TreeCommit, made: NonNullable<TreeCommit["create"]>): MemoryTree {
    const { tree: id, epoch, status, wakeAt, at } = part;
    const { agent, kind, format, last } = made;
    const { busy: works, questions } = part;
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
        busy: works,
        questions,
        format,
        failures: 0,
        unplaced: null,
        createdAt: at,
        updatedAt: at,
      },
      rows: [],
      blobs: [],
      runs: new Map(),
      outbox: new Map(),
      snapshot: null,
    };
    trees.set(id, tree);
    index(tree);
    return tree;
  }

  function apply(part: TreeCommit): void {
    const tree = part.create === undefined ? known(part.tree) : madeTree(part, part.create);
    const { record } = tree;
    for (const row of part.rows) {
      tree.rows.push(row);
      record.hash = row.hash;
    }
    const indexed = record.status === part.status && record.busy === part.busy && record.wakeAt === part.wakeAt;
    record.status = part.status;
    record.epoch = part.epoch;
    record.nextSeq += part.rows.length;
    record.wakeAt = part.wakeAt;
    record.busy = part.busy;
    record.questions = part.questions;
    record.updatedAt = part.at;
    if (!indexed) index(tree);
    if (part.blobs.length > 0) tree.blobs = tree.blobs.length === 0 ? part.blobs : [...tree.blobs, ...part.blobs];
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

  function bury(tree: MemoryTree): void {
    indexRuns();
    changeRecord(tree, { status: "expired" });
    for (const { id, agent } of tree.runs.values()) {
      runsById.delete(id);
      runsByAgent.delete(agent);
    }
    tree.rows.length = 0;
    tree.blobs = [];
    tree.runs.clear();
    tree.outbox.clear();
    tree.snapshot = null;
    posts.delete(tree.record.id);
  }

  return {
    trees,
    posts,
    pending,
    busy,
    waking,
    known,
    run(id) {
      indexRuns();
      return runAt(runsById.get(id), (run) => run.id === id);
    },
    runOfAgent(agent) {
      indexRuns();
      return runAt(runsByAgent.get(agent), (run) => run.agent === agent);
    },
    apply,
    changeRecord,
    postsOf,
    recordPost,
    patchRun,
    bury,
  };
}
