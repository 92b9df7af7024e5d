/**
 * The commit and the other writes of an owner. Each is one transaction.
 *
 * Invariants:
 *  1. The tree's row is written first, under the writer's lock. If it is not as the writer knew it, the whole commit is
 *     rolled back (`tree-rows.ts`).
 *  2. A process that is no longer the owner writes nothing (`Fence`). A commit checks this with the first row that it
 *     appends: no other process can become the owner while it holds the writer's lock.
 *  3. Each waits for the disk, except a commit with a deferred fsync (`deferred-fsync.ts`).
 */

import type { Store, TreeCommit, StoreWrites } from "../../contracts/store.ts";
import type { TreeId } from "../../core/values/ids.ts";
import { ErrandError } from "../../errors.ts";
import type { JournalRow } from "../../core/journal/journal.ts";
import { numberOf, optionalCell, type Row } from "../cells.ts";
import { treeStatuses } from "../codes.ts";
import { FORMAT_KNOWN } from "../formats.ts";
import { rowRefused, treeUnknown } from "../refusals.ts";
import { prepareBlobSets } from "./blob-sets.ts";
import { hashCell, idCell, records, textCell } from "./cells.ts";
import type { Prepare } from "./connection.ts";
import type { DeferredFsync } from "./deferred-fsync.ts";
import { type Fence, noLongerOwner, STILL_OWNER } from "./ownership.ts";
import { prepareProjections } from "./projections.ts";
import { rowKey, rowsOfTree } from "./schema.ts";
import { prepareTreeRows } from "./tree-rows.ts";

export interface OwnerWrites extends Omit<StoreWrites, "claim"> {
  /** See `SqliteStore.leave`. */
  leave(to: string, mail: number): Promise<boolean>;
}

/** `run` runs a write, again if the file is locked. */
export function createOwnerWrites(
  prepare: Prepare,
  transaction: DeferredFsync["transaction"],
  fence: Fence,
  run: <Result>(work: () => Result) => Promise<Result>,
): OwnerWrites {
  const projections = prepareProjections(prepare);
  const blobSets = prepareBlobSets(prepare);
  const treeRows = prepareTreeRows(prepare, blobSets);
  const append = prepare(`insert into journal (id, at, hash, head, body) values (${rowKey("?", "?")}, ?, ?, ?, ?)`);
  const appendFirst = prepare(`
    insert into journal (id, at, hash, head, body) select ${rowKey("?", "?")}, ?, ?, ?, ? where ${STILL_OWNER}`);
  const erase = prepare(`update journal set body = ? where id = ${rowKey("?", "?")}`);
  const snapshot = prepare("insert or replace into snapshots (tree, seq, revision, text) values (?, ?, ?, ?)");
  const send = prepare(`
    insert or ignore into outbox (tree, key, place, agent, text, at) values (?, ?, ${rowKey("?", "?")}, ?, ?, ?)`);
  const acknowledge = prepare("delete from outbox where tree = (select key from trees where id = ?) and key = ?");
  const keyOfTree = prepare("select key from trees where id = ?");
  const countFailure = prepare("update trees set failures = failures + 1 where id = ? returning key");
  const setUnplaced = prepare("update trees set unplaced = ? where id = ? returning key");
  const setStatus = prepare("update trees set status = ? where key = ?");
  const clearFailures = prepare("update trees set failures = 0 where id = ? returning key");
  const reopen = prepare("update trees set status = ? where key = ? and status = ?");
  const idleTrees = prepare(`
    select key, id from trees
    where updated_at < ? and busy = 0 and wake_at is null and questions = 0 and status in (0, 1) and ${FORMAT_KNOWN}
    and not exists (select 1 from runs where ${rowsOfTree("trees.key", "runs.key")} and delivery in (0, 1))
    and not exists (select 1 from posts where posts.tree = trees.id and seq is null)
    order by updated_at limit +?`);
  const setExpired = prepare(`
    update trees set status = 3, blobs = null, (next_seq, hash) = (
      select seq + 1, journal.hash from journal where ${rowsOfTree("trees.key", "journal.id")}
      order by journal.id desc limit 1)
    where key = ?`);
  const deletions = [
    `delete from journal where ${rowsOfTree("?1", "id")}`,
    `delete from runs where ${rowsOfTree("?1", "key")}`,
    ...["snapshots", "outbox"].map((table) => `delete from ${table} where tree = ?1`),
  ].map(prepare);
  const deletePosts = prepare("delete from posts where tree = ?");
  const anchor = prepare("insert or replace into anchor (only, at, wall, monotonic, boot) values (1, ?, ?, ?, ?)");
  const countMail = prepare("select count(*) as mail from posts where seq is null");
  const setMoved = prepare("insert or replace into meta values ('moved', ?)");
  const setFormat = prepare(`
    insert into meta values ('format', ?) on conflict do update set value = max(value, excluded.value)`);

  /** `fenced`: the transaction has appended a row before. Returns whether it has now. */
  function appendRows(key: number, at: number, rows: readonly JournalRow[], fenced: boolean): boolean {
    let checked = fenced;
    for (const { seq, head, body, hash } of rows) {
      const cells = [key, seq, at, hashCell(hash), textCell(head), optionalCell(body, textCell)];
      if (checked) append().run(...cells);
      else if (appendFirst().run(...cells, fence.epoch).changes === 0) throw noLongerOwner(fence.epoch);
      checked = true;
    }
    return checked;
  }

  function writePart(part: TreeCommit, fenced: boolean): boolean {
    const key = treeRows.move(part);
    const tree = { key, id: part.tree };
    const checked = appendRows(key, part.at, part.rows, fenced);
    for (const patch of part.runs) projections.patchRun(tree, patch);
    for (const post of part.posts) projections.recordPost(part.tree, post);
    for (const { id, seq } of part.postsEnded) projections.endPost(part.tree, id, seq);
    for (const [index, { key: step, agent, text, at }] of part.outbox.entries())
      send().run(key, textCell(step), part.expectedSeq, index, agent, textCell(text), at);
    for (const { seq, body } of part.erased) erase().run(optionalCell(body, textCell), key, seq);
    if (part.snapshot !== undefined) {
      const { seq, revision, text } = part.snapshot;
      snapshot().run(key, seq, textCell(revision), textCell(text));
    }
    return checked;
  }

  function writeParts(parts: readonly TreeCommit[]): void {
    try {
      let fenced = false;
      for (const part of parts) fenced = writePart(part, fenced);
    } catch (error) {
      // Another owner is the reason for whatever was found first.
      fence.check();
      throw error;
    }
  }

  /** A write that is not a commit. It may change trees' rows, and is rare. */
  function writeRare<Result>(work: () => Result): Promise<Result> {
    return run(() => {
      treeRows.forget();
      return transaction(() => {
        fence.check();
        return work();
      });
    });
  }

  const commit: Store["commit"] = ({ trees, acknowledged, deferFsync }) =>
    run(() => {
      const appends = trees.some((part) => part.rows.length > 0);
      const write = (): void => {
        if (!appends) fence.check();
        writeParts(trees);
        for (const { tree, key } of acknowledged) acknowledge().run(idCell(tree), textCell(key));
      };
      try {
        transaction(write, appends ? (deferFsync === true ? "deferred" : "now") : undefined);
      } catch (error) {
        treeRows.forget();
        // An error that is not SQLite's: a value that cannot be put into a cell.
        throw error instanceof ErrandError ? error : rowRefused("The SQLite store", error);
      }
    });

  return {
    commit,
    markFailure: (tree, quarantine) =>
      writeRare(() => {
        const key = keyOf(countFailure().get(idCell(tree)), tree);
        if (quarantine) setStatus().run(treeStatuses.cell("quarantined"), key);
      }),
    markUnplaced: (tree, reason) =>
      writeRare(() => void keyOf(setUnplaced().get(optionalCell(reason, textCell), idCell(tree)), tree)),
    release: (tree) =>
      writeRare(() => {
        const key = keyOf(clearFailures().get(idCell(tree)), tree);
        reopen().run(treeStatuses.cell("open"), key, treeStatuses.cell("quarantined"));
      }),
    replaceProjections: (tree, { runs, posts }) =>
      writeRare(() => {
        const key = keyOf(keyOfTree().get(idCell(tree)), tree);
        projections.replace({ key, id: tree }, runs, posts);
      }),
    expire: (before, limit) =>
      writeRare(() => {
        const expired = idleTrees().all(before, limit);
        for (const row of expired) {
          const key = numberOf(row, "key");
          setExpired().run(key);
          for (const deletion of deletions) deletion().run(key);
          deletePosts().run(row["id"] ?? null);
        }
        // This reads all trees, so it runs once, after the last batch.
        if (expired.length < limit) blobSets.deleteUnused();
        return expired.map(records.treeIdOf);
      }),
    leave: (to, mail) =>
      writeRare(() => {
        if (numberOf(countMail().get(), "mail") !== mail) return false;
        setMoved().run(textCell(to));
        return true;
      }),
    raiseFormat: (format) => writeRare(() => void setFormat().run(format)),
    setAnchor: ({ at, wall, monotonic, boot }) =>
      writeRare(() => void anchor().run(at, wall, monotonic, textCell(boot))),
  };
}

function keyOf(row: Row, tree: TreeId): number {
  if (row === undefined) throw treeUnknown(tree);
  return numberOf(row, "key");
}
