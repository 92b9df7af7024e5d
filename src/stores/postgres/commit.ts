/**
 * The commit: all trees that are ready together, table by table, in one transaction. It takes two round trips to the
 * server: BEGIN, then everything else.
 *
 * Invariants:
 *  1. The trees' rows are written first, each only if its epoch and next sequence are what the writer knew. Unless all
 *     of them were written, the whole commit is rolled back. So a writer that lost its tree changes nothing.
 *  2. COMMIT is sent together with the statements. The server refuses what must be refused (`errand.require`); the
 *     reason is looked up afterwards.
 */

import type { Commit, TreeCommit, TreeCreation } from "../../contracts/store.ts";
import { numberOf, optionalCell } from "../cells.ts";
import { treeKinds, treeStatuses } from "../codes.ts";
import { ErrandError } from "../../errors.ts";
import { requireFollows } from "../check-part.ts";
import { rowRefused, treeConflict } from "../refusals.ts";
import { type Cell, textCell, textOf } from "./cells.ts";
import type { Ask, Asked, Database, Statement } from "./database.ts";
import { mergeParts } from "./merge-parts.ts";
import { refusalOf } from "./postgres-errors.ts";
import { endPosts, explainReusedPost, explainUnknownRun, patchRuns, recordPosts } from "./projections.ts";
import { allOrRefused, askedOf, type ColumnTypes, given, insertOf, insertOfTree } from "./table-write.ts";

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
const MAKE_TREES: Statement = {
  name: "errand-make-trees",
  text: allOrRefused(insertOf("", "errand.trees", NEW_TREE, "on conflict (id) do nothing").text, "trees"),
};

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
  text: allOrRefused(
    `update errand.trees t set next_seq = given.next_seq, hash = coalesce(given.hash, t.hash), status = given.status,
       wake_at = given.wake_at, busy = given.busy, questions = given.questions, updated_at = given.updated_at
     from ${given(MOVED_TREE)}
     where t.id = given.id and t.epoch = given.epoch and t.next_seq = given.expected`,
    "trees",
  ),
};
const EXPLAIN: Statement = {
  name: "errand-explain-conflict",
  text: "select id, epoch, next_seq from errand.trees where id = any ($1::text[])",
};

/** A table that commits append to, and the rows of one tree for it. */
interface Write {
  readonly statement: Statement;
  readonly types: ColumnTypes;
  rows(part: TreeCommit): readonly (readonly Cell[])[];
}

const JOURNAL: ColumnTypes = { tree: "text", seq: "bigint", head: "text", body: "text", hash: "text" };
const BLOBS: ColumnTypes = { tree: "text", hash: "text", text: "text" };
const OUTBOX: ColumnTypes = { tree: "text", key: "text", agent: "integer", text: "text", at: "bigint" };
const SNAPSHOTS: ColumnTypes = { tree: "text", seq: "bigint", revision: "text", text: "text" };
const ERASED: ColumnTypes = { tree: "text", seq: "bigint", body: "text" };

const WRITES: readonly Write[] = [
  {
    statement: insertOfTree("append-rows", "errand.journal", JOURNAL),
    types: JOURNAL,
    rows: ({ tree, rows }) =>
      rows.map(({ seq, head, body, hash }) => [
        textCell(tree),
        seq,
        textCell(head),
        optionalCell(body, textCell),
        textCell(hash),
      ]),
  },
  {
    statement: insertOfTree("put-blobs", "errand.blobs", BLOBS, "on conflict do nothing"),
    types: BLOBS,
    rows: ({ tree, blobs }) => blobs.map(({ hash, text }) => [textCell(tree), textCell(hash), textCell(text)]),
  },
  {
    statement: insertOfTree("send", "errand.outbox", OUTBOX, "on conflict do nothing"),
    types: OUTBOX,
    rows: ({ tree, outbox }) =>
      outbox.map(({ key, agent, text, at }) => [textCell(tree), textCell(key), agent, textCell(text), at]),
  },
  {
    statement: insertOfTree(
      "put-snapshots",
      "errand.snapshots",
      SNAPSHOTS,
      "on conflict (tree) do update set seq = excluded.seq, revision = excluded.revision, text = excluded.text",
    ),
    types: SNAPSHOTS,
    rows: ({ tree, snapshot }) =>
      snapshot === undefined
        ? []
        : [[textCell(tree), snapshot.seq, textCell(snapshot.revision), textCell(snapshot.text)]],
  },
  {
    // After the rows were appended, because a commit may erase what an earlier part of it appended.
    statement: {
      name: "errand-erase-bodies",
      text: `update errand.journal j set body = given.body
             from ${given(ERASED)} join errand.trees t on t.id = given.tree
             where j.tree = t.key and j.seq = given.seq`,
    },
    types: ERASED,
    rows: ({ tree, erased }) => erased.map(({ seq, body }) => [textCell(tree), seq, optionalCell(body, textCell)]),
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

/** Writes the trees' rows as the commit leaves them. */
function moveTrees(parts: readonly TreeCommit[], worker: number): readonly Asked[] {
  const news: Cell[][] = [];
  const moved: Cell[][] = [];
  // In the order of their ids, so that two workers that briefly write the same trees wait and do not deadlock.
  const ordered = parts.toSorted((one, other) => (one.tree < other.tree ? -1 : 1));
  for (const part of ordered) if (part.create === undefined) moved.push(movedTree(part));
  for (const part of parts) if (part.create !== undefined) news.push(newTree(part, part.create, worker));
  return [...askedOf(MAKE_TREES, NEW_TREE, news), ...askedOf(MOVE_TREES, MOVED_TREE, moved)];
}

/** Throws the reason why trees did not move. */
async function explainConflict(ask: Ask, parts: readonly TreeCommit[]): Promise<void> {
  const rows = await ask(EXPLAIN, [parts.map(({ tree }) => textCell(tree))]);
  const positions = new Map(
    rows.map((row) => [textOf(row, "id"), { epoch: numberOf(row, "epoch"), nextSeq: numberOf(row, "next_seq") }]),
  );
  for (const part of parts) {
    const position = positions.get(part.tree);
    requireFollows(part, position);
    if (position !== undefined && position.epoch !== part.epoch)
      throw treeConflict(part.tree, `its epoch is ${position.epoch}, not ${part.epoch}`);
  }
}

function statements(parts: readonly TreeCommit[], worker: number, acknowledged: Commit["acknowledged"]): Asked[] {
  const taken = acknowledged.map(({ tree, key }) => [textCell(tree), textCell(key)]);
  try {
    return [
      ...moveTrees(parts, worker),
      ...WRITES.flatMap(({ statement, types, rows }) => askedOf(statement, types, parts.flatMap(rows))),
      ...askedOf(ACKNOWLEDGE, TAKEN, taken),
      ...patchRuns(parts),
      ...recordPosts(parts),
      ...endPosts(parts),
    ];
  } catch (error) {
    throw error instanceof ErrandError ? error : rowRefused("The PostgreSQL store", error);
  }
}

export async function writeCommit(database: Database, worker: number, commit: Commit): Promise<void> {
  const parts = mergeParts(commit.trees);
  const asked = statements(parts, worker, commit.acknowledged);
  if (asked.length === 0) return;
  try {
    await database.together(asked);
  } catch (error) {
    await explainRefusal(database.ask, parts, error);
    throw error;
  }
}

/** Throws the reason if the server refused what the commit asks for. */
async function explainRefusal(ask: Ask, parts: readonly TreeCommit[], error: unknown): Promise<void> {
  switch (refusalOf(error)) {
    case "trees":
      return explainConflict(ask, parts);
    case "runs":
      return explainUnknownRun(ask, parts);
    case "posts":
      return explainReusedPost(ask, parts);
    default:
  }
}
