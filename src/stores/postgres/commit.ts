/**
 * The commit: all trees that are ready together, table by table, in one transaction of three journeys to the server.
 *
 * Invariants:
 *  1. The trees' rows move first, each only if its epoch and next sequence are what the writer knew; unless all of them moved, all of
 *     the commit is rolled back. A writer that lost its tree therefore changes nothing.
 *  2. Everything that has to be refused is refused before COMMIT is sent.
 */

import type { Commit, TreeCommit, TreeCreation } from "../../contracts/store.ts";
import type { TreeId } from "../../core/ids.ts";
import { numberOf, optionalCell } from "../cells.ts";
import { treeKinds, treeStatuses } from "../columns.ts";
import { treeConflict } from "../refusals.ts";
import { type Cell, textCell, textOf } from "./cells.ts";
import { type Ask, type Database, settled, type Statement } from "./database.ts";
import { mergeParts } from "./merge-parts.ts";
import { endPosts, patchRuns, recordPosts } from "./projections.ts";
import { arraysOf, type ColumnTypes, given, insertOf } from "./table-write.ts";

const NEW_TREE: ColumnTypes = {
  id: "text",
  agent: "text",
  kind: "smallint",
  status: "smallint",
  epoch: "bigint",
  next_seq: "bigint",
  hash: "text",
  wake_at: "bigint",
  busy: "boolean",
  questions: "integer",
  format: "integer",
  created_at: "bigint",
  updated_at: "bigint",
  owner: "integer",
};
const MAKE_TREES = insertOf("make-trees", "errand.trees", NEW_TREE, "on conflict (id) do nothing returning id, key");

const MOVED_TREE: ColumnTypes = {
  id: "text",
  epoch: "bigint",
  expected: "bigint",
  next_seq: "bigint",
  hash: "text",
  status: "smallint",
  wake_at: "bigint",
  busy: "boolean",
  questions: "integer",
  updated_at: "bigint",
};
const MOVE_TREES: Statement = {
  name: "errand-move-trees",
  text: `update errand.trees t set next_seq = given.next_seq, hash = coalesce(given.hash, t.hash), status = given.status,
           wake_at = given.wake_at, busy = given.busy, questions = given.questions, updated_at = given.updated_at
         from ${given(MOVED_TREE)}
         where t.id = given.id and t.epoch = given.epoch and t.next_seq = given.expected returning t.id, t.key`,
};
const EXPLAIN: Statement = {
  name: "errand-explain-conflict",
  text: "select epoch, next_seq from errand.trees where id = $1",
};

/** A table that a commit appends to, and the rows that one tree has for it. */
interface Write {
  readonly statement: Statement;
  readonly types: ColumnTypes;
  rows(part: TreeCommit, key: number): readonly (readonly Cell[])[];
}

const JOURNAL: ColumnTypes = { tree: "bigint", seq: "bigint", head: "text", body: "text", hash: "text" };
const BLOBS: ColumnTypes = { tree: "bigint", hash: "text", text: "text" };
const OUTBOX: ColumnTypes = { tree: "bigint", key: "text", agent: "integer", text: "text", at: "bigint" };
const SNAPSHOTS: ColumnTypes = { tree: "bigint", seq: "bigint", revision: "text", text: "text" };
const ERASED: ColumnTypes = { tree: "bigint", seq: "bigint", body: "text" };

const WRITES: readonly Write[] = [
  {
    statement: insertOf("append-rows", "errand.journal", JOURNAL),
    types: JOURNAL,
    rows: ({ rows }, key) =>
      rows.map(({ seq, head, body, hash }) => [key, seq, textCell(head), optionalCell(body, textCell), textCell(hash)]),
  },
  {
    statement: insertOf("put-blobs", "errand.blobs", BLOBS, "on conflict do nothing"),
    types: BLOBS,
    rows: ({ blobs }, key) => blobs.map(({ hash, text }) => [key, textCell(hash), textCell(text)]),
  },
  {
    statement: insertOf("send", "errand.outbox", OUTBOX, "on conflict do nothing"),
    types: OUTBOX,
    rows: ({ outbox }, key) =>
      outbox.map(({ key: step, agent, text, at }) => [key, textCell(step), agent, textCell(text), at]),
  },
  {
    statement: insertOf(
      "put-snapshots",
      "errand.snapshots",
      SNAPSHOTS,
      "on conflict (tree) do update set seq = excluded.seq, revision = excluded.revision, text = excluded.text",
    ),
    types: SNAPSHOTS,
    rows: ({ snapshot }, key) =>
      snapshot === undefined ? [] : [[key, snapshot.seq, textCell(snapshot.revision), textCell(snapshot.text)]],
  },
  {
    // After the rows were appended: a commit may erase what an earlier part of it brought.
    statement: {
      name: "errand-erase-bodies",
      text: `update errand.journal j set body = given.body from ${given(ERASED)}
             where j.tree = given.tree and j.seq = given.seq`,
    },
    types: ERASED,
    rows: ({ erased }, key) => erased.map(({ seq, body }) => [key, seq, optionalCell(body, textCell)]),
  },
];

const TAKEN: ColumnTypes = { tree: "text", key: "text" };
const ACKNOWLEDGE: Statement = {
  name: "errand-acknowledge",
  text: `delete from errand.outbox o using errand.trees t, ${given(TAKEN)}
         where t.id = given.tree and o.tree = t.key and o.key = given.key`,
};

function newTree(part: TreeCommit, made: TreeCreation, worker: number): Cell[] {
  const { tree, epoch, rows, status, wakeAt, busy, questions, at } = part;
  const named = [textCell(tree), textCell(made.agent), treeKinds.cell(made.kind), treeStatuses.cell(status)];
  const hash = textCell(rows.at(-1)?.hash ?? made.last?.hash ?? "");
  return [
    ...named,
    epoch,
    (made.last?.seq ?? 0) + 1 + rows.length,
    hash,
    wakeAt,
    busy,
    questions,
    made.format,
    at,
    at,
    worker,
  ];
}

function movedTree(part: TreeCommit): Cell[] {
  const { tree, epoch, expectedSeq, rows, status, wakeAt, busy, questions, at } = part;
  const hash = optionalCell(rows.at(-1)?.hash ?? null, textCell);
  const next = expectedSeq + rows.length;
  return [textCell(tree), epoch, expectedSeq, next, hash, treeStatuses.cell(status), wakeAt, busy, questions, at];
}

/** Changes the trees' rows to what the commit leaves, and returns their keys. */
async function moveTrees(ask: Ask, parts: readonly TreeCommit[], worker: number): Promise<Map<TreeId, number>> {
  const news: Cell[][] = [];
  const moved: Cell[][] = [];
  // Those that exist in the order of their ids, so that two workers that hold the same trees for a moment wait and do not block each other.
  const ordered = parts.toSorted((one, other) => (one.tree < other.tree ? -1 : 1));
  for (const part of ordered) if (part.create === undefined) moved.push(movedTree(part));
  for (const part of parts) if (part.create !== undefined) news.push(newTree(part, part.create, worker));
  const asked: ReturnType<Ask>[] = [];
  if (news.length > 0) asked.push(ask(MAKE_TREES, arraysOf(NEW_TREE, news)));
  if (moved.length > 0) asked.push(ask(MOVE_TREES, arraysOf(MOVED_TREE, moved)));
  const keys = new Map<TreeId, number>();
  for (const row of (await settled(asked)).flat()) keys.set(textOf(row, "id") as TreeId, numberOf(row, "key"));
  for (const part of parts) if (!keys.has(part.tree)) throw await conflict(ask, part);
  return keys;
}

/** Why a tree did not move. */
async function conflict(ask: Ask, part: TreeCommit): Promise<Error> {
  const { tree, create, epoch, expectedSeq } = part;
  if (create !== undefined) return treeConflict(tree, "it exists already");
  const [row] = await ask(EXPLAIN, [textCell(tree)]);
  if (row === undefined) return treeConflict(tree, "it does not exist");
  if (numberOf(row, "epoch") !== epoch) return treeConflict(tree, `epoch ${epoch} is over`);
  return treeConflict(tree, `its next row is ${numberOf(row, "next_seq")}, not ${expectedSeq}`);
}

export async function writeCommit(database: Database, worker: number, commit: Commit): Promise<void> {
  const parts = mergeParts(commit.trees);
  await database.transaction(async (ask) => {
    const keys = await moveTrees(ask, parts, worker);
    const keyed = parts.map((part) => ({ part, key: keys.get(part.tree) ?? 0 }));
    const writes = WRITES.flatMap(({ statement, types, rows }) => {
      const all = keyed.flatMap(({ part, key }) => rows(part, key));
      return all.length === 0 ? [] : [ask(statement, arraysOf(types, all))];
    });
    const taken = commit.acknowledged.map(({ tree, key }) => [textCell(tree), textCell(key)]);
    if (taken.length > 0) writes.push(ask(ACKNOWLEDGE, arraysOf(TAKEN, taken)));
    await settled<unknown>([
      ...writes,
      patchRuns(
        ask,
        keyed.map(({ part, key }) => ({ key, id: part.tree, runs: part.runs })),
      ),
      recordPosts(ask, parts),
      endPosts(
        ask,
        parts.flatMap(({ tree, postsEnded }) => postsEnded.map((post) => ({ tree, ...post }))),
      ),
    ]);
  });
}
