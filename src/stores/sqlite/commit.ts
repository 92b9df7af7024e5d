/**
 * The commit, and the other writes of an owner. Each is one transaction, and runs inline.
 *
 * Invariants:
 *  1. The tree's row comes first, under the writer's lock; if it is not as the writer knew it, all of the commit is rolled back (`tree-rows.ts`).
 *  2. A process that is no longer the owner writes nothing (`fence`). A commit with rows finds that out as it appends the first of them: nobody else becomes the owner while it
 *     holds the writer's lock.
 *  3. Each waits for the disk, but a commit that trails (`deferred-fsync.ts`).
 */

import type { Anchor, Commit, Store, TreeCommit } from "../../contracts/store.ts";
import { asTreeId, type TreeId } from "../../core/values/ids.ts";
import { ErrandError } from "../../errors.ts";
import type { JournalRow } from "../../core/journal/journal.ts";
import { numberOf, optionalCell, type Row } from "../cells.ts";
import { treeStatuses } from "../codes.ts";
import { FORMAT_KNOWN } from "../formats.ts";
import { rowRefused, treeUnknown } from "../refusals.ts";
import { prepareBlobSets } from "./blob-sets.ts";
import { hashCell, idCell, idOf, textCell } from "./cells.ts";
import { type Fence, noLongerOwner, STILL_OWNER } from "./ownership.ts";
import { placeKey, placesOf } from "./place-keys.ts";
import { prepareProjections } from "./projections.ts";
import type { Prepare } from "./connection.ts";
import type { DeferredFsync } from "./deferred-fsync.ts";
import { prepareTreeRows } from "./tree-rows.ts";

type Projections = Parameters<Store["replaceProjections"]>[1];

export interface OwnerWrites {
  /** Throws if another process has become the owner. */
  requireOwner(): void;
  commit(commit: Commit): void;
  markFailure(tree: TreeId, quarantine: boolean): void;
  markUnplaced(tree: TreeId, reason: string | null): void;
  release(tree: TreeId): void;
  replaceProjections(tree: TreeId, projections: Projections): void;
  setAnchor(anchor: Anchor): void;
  raiseFormat(format: number): void;
  leave(to: string, mail: number): boolean;
  expire(before: number, limit: number): readonly TreeId[];
}

export function prepareOwnerWrites(
  prepare: Prepare,
  transaction: DeferredFsync["transaction"],
  fence: Fence,
): OwnerWrites {
  const projections = prepareProjections(prepare);
  const blobSets = prepareBlobSets(prepare);
  const treeRows = prepareTreeRows(prepare, blobSets);
  const append = prepare(`insert into journal (id, at, hash, head, body) values (${placeKey("?", "?")}, ?, ?, ?, ?)`);
  const appendFirst = prepare(`
    insert into journal (id, at, hash, head, body) select ${placeKey("?", "?")}, ?, ?, ?, ? where ${STILL_OWNER}`);
  const erase = prepare(`update journal set body = ? where id = ${placeKey("?", "?")}`);
  const snapshot = prepare("insert or replace into snapshots (tree, seq, revision, text) values (?, ?, ?, ?)");
  const send = prepare(`
    insert or ignore into outbox (tree, key, place, agent, text, at) values (?, ?, ${placeKey("?", "?")}, ?, ?, ?)`);
  const acknowledge = prepare("delete from outbox where tree = (select key from trees where id = ?) and key = ?");
  const keyOfTree = prepare("select key from trees where id = ?");
  const fail = prepare("update trees set failures = failures + 1 where id = ? returning key");
  const unplace = prepare("update trees set unplaced = ? where id = ? returning key");
  const setStatus = prepare("update trees set status = ? where key = ?");
  const forgive = prepare("update trees set failures = 0 where id = ? returning key");
  const reopen = prepare("update trees set status = ? where key = ? and status = ?");
  const resting = prepare(`
    select key, id from trees where updated_at < ? and busy = 0 and wake_at is null and questions = 0 and status in (0, 1) and ${FORMAT_KNOWN}
    and not exists (select 1 from runs where ${placesOf("trees.key", "runs.key")} and delivery in (0, 1))
    and not exists (select 1 from posts where posts.tree = trees.id and seq is null)
    order by updated_at limit +?`);
  const bury = prepare(`
    update trees set status = 3, blobs = null, (next_seq, hash) = (
      select seq + 1, journal.hash from journal where ${placesOf("trees.key", "journal.id")} order by journal.id desc limit 1)
    where key = ?`);
  const graves = [
    `delete from journal where ${placesOf("?1", "id")}`,
    `delete from runs where ${placesOf("?1", "key")}`,
    ...["snapshots", "outbox"].map((table) => `delete from ${table} where tree = ?1`),
  ].map(prepare);
  const forgetPosts = prepare("delete from posts where tree = ?");
  const anchor = prepare("insert or replace into anchor (only, at, wall, monotonic, boot) values (1, ?, ?, ?, ?)");

  const waiting = prepare("select count(*) as mail from posts where seq is null");
  const move = prepare("insert or replace into meta values ('moved', ?)");
  const raise = prepare(`
    insert into meta values ('format', ?) on conflict do update set value = max(value, excluded.value)`);

  /** `fenced`: a row of the same transaction was appended before. Returns whether one is now. */
  function appendRows(key: number, at: number, rows: readonly JournalRow[], fenced: boolean): boolean {
    let owned = fenced;
    for (const { seq, head, body, hash } of rows) {
      const text = body === null ? null : textCell(body);
      if (owned) append().run(key, seq, at, hashCell(hash), textCell(head), text);
      else {
        const { changes } = appendFirst().run(key, seq, at, hashCell(hash), textCell(head), text, fence.epoch);
        if (changes === 0) throw noLongerOwner(fence.epoch);
        owned = true;
      }
    }
    return owned;
  }

  function write(part: TreeCommit, fenced: boolean): boolean {
    const key = treeRows.move(part);
    const tree = { key, id: part.tree };
    const owned = appendRows(key, part.at, part.rows, fenced);
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
    return owned;
  }

  function writeAll(parts: readonly TreeCommit[]): void {
    try {
      let fenced = false;
      for (const part of parts) fenced = write(part, fenced);
    } catch (error) {
      // If another owner has come, that is the reason, whatever was found first.
      fence.check();
      throw error;
    }
  }

  /** For what is not a commit: it may change trees' rows, and is rare. */
  const owned = <Result>(work: () => Result): Result => {
    treeRows.forget();
    return transaction(() => {
      fence.check();
      return work();
    });
  };

  return {
    requireOwner: () => fence.check(),
    commit({ trees, acknowledged, deferFsync }) {
      const rows = trees.some((part) => part.rows.length > 0);
      const work = (): void => {
        if (!rows) fence.check();
        writeAll(trees);
        for (const { tree, key } of acknowledged) acknowledge().run(idCell(tree), textCell(key));
      };
      try {
        transaction(work, rows ? (deferFsync === true ? "deferred" : "now") : undefined);
      } catch (error) {
        treeRows.forget();
        // Not an error of SQLite: a value that cannot be put into a cell.
        throw error instanceof ErrandError ? error : rowRefused("The SQLite store", error);
      }
    },
    markFailure(tree, quarantine) {
      owned(() => {
        const key = knownKey(fail().get(idCell(tree)), tree);
        if (quarantine) setStatus().run(treeStatuses.cell("quarantined"), key);
      });
    },
    markUnplaced(tree, reason) {
      owned(() => knownKey(unplace().get(optionalCell(reason, textCell), idCell(tree)), tree));
    },
    release(tree) {
      owned(() => {
        const key = knownKey(forgive().get(idCell(tree)), tree);
        reopen().run(treeStatuses.cell("open"), key, treeStatuses.cell("quarantined"));
      });
    },
    replaceProjections(tree, { runs, posts }) {
      owned(() => {
        const key = knownKey(keyOfTree().get(idCell(tree)), tree);
        projections.replace({ key, id: tree }, runs, posts);
      });
    },
    expire(before, limit) {
      return owned(() => {
        const expired = resting().all(before, limit);
        for (const row of expired) {
          const key = numberOf(row, "key");
          bury().run(key);
          for (const grave of graves) grave().run(key);
          forgetPosts().run(row["id"] ?? null);
        }
        // That looks at all trees: once, after the last of those that expire now.
        if (expired.length < limit) blobSets.collect();
        return expired.map((row) => asTreeId(idOf(row, "id")));
      });
    },
    leave(to, mail) {
      return owned(() => {
        if (numberOf(waiting().get(), "mail") !== mail) return false;
        move().run(textCell(to));
        return true;
      });
    },
    raiseFormat(format) {
      owned(() => raise().run(format));
    },
    setAnchor({ at, wall, monotonic, boot }) {
      owned(() => anchor().run(at, wall, monotonic, textCell(boot)));
    },
  };
}

function knownKey(row: Row, tree: TreeId): number {
  if (row === undefined) throw treeUnknown(tree);
  return numberOf(row, "key");
}
