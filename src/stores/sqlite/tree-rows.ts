/**
 * The rows of `trees`, as commits make and move them. Every function here runs inside a transaction of its caller, which holds the writer's lock
 * and has seen that this process is the owner.
 *
 * Invariants:
 *  1. Unless epoch and sequence are as the writer knew them, it throws. A lower epoch, a gap or a repetition therefore changes nothing.
 *  2. A row is written only when something in it changes, or when the tree is at rest: what is newer in the last row of its journal counts (`queries.ts`), so
 *     most commits touch one page. A column that stands in an index is named only when it changes, because naming it is enough for SQLite to write
 *     the index anew. (No RETURNING in an update: it doubles the cost.)
 *  3. Nobody but the owner changes these rows, so what it read or left there last need not be read again. Whoever changes them otherwise, or loses a transaction,
 *     says so (`forget`).
 */

import type { TreeCommit, TreeCreation } from "../../contracts/store.ts";
import type { TreeId } from "../../core/values/ids.ts";
import { numberOf, optionalCell, optionalOf } from "../cells.ts";
import { treeKinds, treeStatuses } from "../codes.ts";
import { positionAfter, requireFollows } from "../check-part.ts";
import { treeConflict } from "../refusals.ts";
import type { BlobSets } from "./blob-sets.ts";
import { hashCell, idCell, textCell } from "./cells.ts";
import { placesOf } from "./place-keys.ts";
import type { Prepare } from "./connection.ts";

export interface TreeRows {
  /** Brings the tree's row to what the commit leaves, with the texts that it brings, and returns its key. */
  move(part: TreeCommit): number;
  forget(): void;
}

/** A tree's row, in the cells of the columns that commits change. */
interface Standing {
  readonly key: number;
  readonly epoch: number;
  readonly nextSeq: number;
  readonly status: number;
  readonly wakeAt: number | null;
  readonly busy: number;
  readonly questions: number;
}

const REMEMBERED = 1_000;

export function prepareTreeRows(prepare: Prepare, blobSets: BlobSets): TreeRows {
  const make = prepare(`
    insert into trees (id, agent, kind, status, epoch, next_seq, hash, wake_at, busy, questions, format, created_at, updated_at, blobs)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (id) do nothing returning key`);
  const stored = prepare(`
    select key, epoch, status, wake_at, busy, questions, max(next_seq, coalesce(
      (select seq + 1 from journal where ${placesOf("trees.key", "journal.id")} order by journal.id desc limit 1), 0)) as next_seq
    from trees where id = ?`);
  const advance = prepare(
    "update trees set epoch = ?, next_seq = ?, hash = coalesce(?, hash), updated_at = ? where key = ?",
  );
  const advanceWake = prepare(
    "update trees set epoch = ?, next_seq = ?, hash = coalesce(?, hash), updated_at = ?, wake_at = ? where key = ?",
  );
  const advanceIndexed = prepare(
    "update trees set epoch = ?, next_seq = ?, hash = coalesce(?, hash), updated_at = ?, status = ?, wake_at = ?, busy = ?, questions = ? where key = ?",
  );
  const remembered = new Map<TreeId, Standing>();

  function makeTree(part: TreeCommit, made: TreeCreation): number {
    const { tree, epoch, rows, wakeAt, at } = part;
    requireFollows(part, undefined);
    const named = [idCell(tree), textCell(made.agent), treeKinds.cell(made.kind), treeStatuses.cell(part.status)];
    const next = (made.last?.seq ?? 0) + 1 + rows.length;
    const moving = [wakeAt, Number(part.busy), part.questions];
    const hash = hashCell(rows.at(-1)?.hash ?? made.last?.hash ?? "");
    const row = make().get(...named, epoch, next, hash, ...moving, made.format, at, at, blobSets.keyOf(part.blobs));
    if (row === undefined) throw treeConflict(tree, "it exists already");
    const key = numberOf(row, "key");
    remember(tree, standingAfter(part, key, next));
    return key;
  }

  function remember(tree: TreeId, standing: Standing): void {
    if (remembered.size >= REMEMBERED) remembered.clear();
    remembered.set(tree, standing);
  }

  function standingOf(tree: TreeId): Standing | undefined {
    const known = remembered.get(tree);
    if (known !== undefined) return known;
    const row = stored().get(idCell(tree));
    if (row === undefined) return undefined;
    return {
      key: numberOf(row, "key"),
      epoch: numberOf(row, "epoch"),
      nextSeq: numberOf(row, "next_seq"),
      status: numberOf(row, "status"),
      wakeAt: optionalOf(row, "wake_at", numberOf),
      busy: numberOf(row, "busy"),
      questions: numberOf(row, "questions"),
    };
  }

  function write(part: TreeCommit, before: Standing, after: Standing): void {
    const { key, epoch, nextSeq, status, wakeAt, busy, questions } = after;
    const hash = optionalCell(part.rows.at(-1)?.hash ?? null, hashCell);
    const moved = [epoch, nextSeq, hash, part.at];
    if (before.status !== status || before.busy !== busy || before.questions !== questions)
      advanceIndexed().run(...moved, status, wakeAt, busy, questions, key);
    else if (before.wakeAt !== wakeAt) advanceWake().run(...moved, wakeAt, key);
    else if (!part.busy || part.rows.length === 0 || before.epoch !== epoch) advance().run(...moved, key);
  }

  return {
    move(part) {
      const { tree } = part;
      if (part.create !== undefined) return makeTree(part, part.create);
      const before = standingOf(tree);
      if (before === undefined) throw treeConflict(tree, "it does not exist");
      requireFollows(part, before);
      const after = standingAfter(part, before.key, positionAfter(part).nextSeq);
      write(part, before, after);
      blobSets.add(before.key, part.blobs);
      remember(tree, after);
      return before.key;
    },
    forget() {
      remembered.clear();
      blobSets.forget();
    },
  };
}

function standingAfter({ epoch, status, wakeAt, busy, questions }: TreeCommit, key: number, nextSeq: number): Standing {
  return { key, epoch, nextSeq, status: treeStatuses.cell(status), wakeAt, busy: Number(busy), questions };
}
