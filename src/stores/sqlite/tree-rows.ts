/**
 * The rows of `trees`, as commits create and change them. The caller has a transaction, which holds the writer's lock,
 * and has checked that this process is the owner.
 *
 * Invariants:
 *  1. It throws unless epoch and sequence are as the writer knew them. So a lower epoch, a gap or a repetition changes
 *     nothing.
 *  2. A row is written only when something in it changes, or when the tree becomes idle. Until then the last row of its
 *     journal is newer (`queries.ts`), so that most commits write one page. A column with an index is named only when
 *     it changes, because SQLite writes the index of every column that an update names. (An update with RETURNING takes
 *     twice as long.)
 *  3. Only the owner changes these rows, so it caches what it read or wrote last. A caller that changes them in another
 *     way, or whose transaction fails, calls `forget`.
 */

import type { TreeCommit, TreeCreation } from "../../contracts/store.ts";
import type { TreeId } from "../../core/values/ids.ts";
import { numberOf, optionalCell, optionalOf } from "../cells.ts";
import { positionAfter, requireFollows } from "../check-part.ts";
import { treeKinds, treeStatuses } from "../codes.ts";
import { treeConflict } from "../refusals.ts";
import type { BlobSets } from "./blob-sets.ts";
import { hashCell, idCell, textCell } from "./cells.ts";
import type { Prepare } from "./connection.ts";
import { rowsOfTree } from "./schema.ts";

export interface TreeRows {
  /** Writes the tree's row as the commit leaves it, with the commit's blobs, and returns its key. */
  move(part: TreeCommit): number;
  forget(): void;
}

/** The columns of a tree's row that commits change. */
interface StoredTree {
  readonly key: number;
  readonly epoch: number;
  readonly nextSeq: number;
  readonly status: number;
  readonly wakeAt: number | null;
  readonly busy: number;
  readonly questions: number;
}

const MOST_CACHED = 1_000;

export function prepareTreeRows(prepare: Prepare, blobSets: BlobSets): TreeRows {
  const insert = prepare(`
    insert into trees (id, agent, kind, status, epoch, next_seq, hash, wake_at, busy, questions, format, created_at,
      updated_at, blobs)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (id) do nothing returning key`);
  const select = prepare(`
    select key, epoch, status, wake_at, busy, questions, max(next_seq, coalesce(
      (select seq + 1 from journal where ${rowsOfTree("trees.key", "journal.id")}
       order by journal.id desc limit 1), 0)) as next_seq
    from trees where id = ?`);
  const update = (indexed: string) =>
    prepare(`
      update trees set epoch = ?, next_seq = ?, hash = coalesce(?, hash), updated_at = ? ${indexed} where key = ?`);
  const updateRow = update("");
  const updateWake = update(", wake_at = ?");
  const updateIndexed = update(", status = ?, wake_at = ?, busy = ?, questions = ?");
  const cached = new Map<TreeId, StoredTree>();

  function create(part: TreeCommit, { agent, kind, format, last }: TreeCreation): StoredTree {
    const { tree, epoch, rows, wakeAt, at } = part;
    requireFollows(part, undefined);
    const nextSeq = (last?.seq ?? 0) + 1 + rows.length;
    const hash = hashCell(rows.at(-1)?.hash ?? last?.hash ?? "");
    const identity = [idCell(tree), textCell(agent), treeKinds.cell(kind), treeStatuses.cell(part.status)];
    const state = [epoch, nextSeq, hash, wakeAt, Number(part.busy), part.questions];
    const row = insert().get(...identity, ...state, format, at, at, blobSets.keyOf(part.blobs));
    if (row === undefined) throw treeConflict(tree, "it exists already");
    return storedAfter(part, numberOf(row, "key"), nextSeq);
  }

  function read(tree: TreeId): StoredTree | undefined {
    const row = select().get(idCell(tree));
    return row === undefined
      ? undefined
      : {
          key: numberOf(row, "key"),
          epoch: numberOf(row, "epoch"),
          nextSeq: numberOf(row, "next_seq"),
          status: numberOf(row, "status"),
          wakeAt: optionalOf(row, "wake_at", numberOf),
          busy: numberOf(row, "busy"),
          questions: numberOf(row, "questions"),
        };
  }

  function change(part: TreeCommit): StoredTree {
    const before = cached.get(part.tree) ?? read(part.tree);
    if (before === undefined) throw treeConflict(part.tree, "it does not exist");
    requireFollows(part, before);
    const after = storedAfter(part, before.key, positionAfter(part).nextSeq);
    const { key, epoch, nextSeq, status, wakeAt, busy, questions } = after;
    const cells = [epoch, nextSeq, optionalCell(part.rows.at(-1)?.hash ?? null, hashCell), part.at];
    if (before.status !== status || before.busy !== busy || before.questions !== questions)
      updateIndexed().run(...cells, status, wakeAt, busy, questions, key);
    else if (before.wakeAt !== wakeAt) updateWake().run(...cells, wakeAt, key);
    else if (!part.busy || part.rows.length === 0 || before.epoch !== epoch) updateRow().run(...cells, key);
    blobSets.add(key, part.blobs);
    return after;
  }

  return {
    move(part) {
      const stored = part.create === undefined ? change(part) : create(part, part.create);
      if (cached.size >= MOST_CACHED) cached.clear();
      cached.set(part.tree, stored);
      return stored.key;
    },
    forget() {
      cached.clear();
      blobSets.forget();
    },
  };
}

function storedAfter({ epoch, status, wakeAt, busy, questions }: TreeCommit, key: number, nextSeq: number): StoredTree {
  return { key, epoch, nextSeq, status: treeStatuses.cell(status), wakeAt, busy: Number(busy), questions };
}
