/**
 * The commit, and the other writes of an owner. Each is one transaction, and runs inline.
 *
 * Invariants:
 *  1. The tree's row is looked at first, under the writer's lock; unless epoch and sequence are as the writer knew them, all of the
 *     commit is rolled back. A lower epoch, a gap or a repetition therefore changes nothing.
 *  2. A tree's row is written only when something in it changes, or when the tree is at rest: what is newer in the last row of its journal
 *     counts (`queries.ts`), so most commits touch one page. A column that stands in an index is named only when
 *     it changes, because naming it is enough for SQLite to write the index anew. (No RETURNING here: it doubles the cost of an update.)
 *  3. A process that is no longer the owner writes nothing (`fence`).
 */

import type { Anchor, Commit, Store, TreeCommit, TreeCreation } from "../../contracts/store.ts";
import { asTreeId, type TreeId } from "../../core/ids.ts";
import { numberOf, optionalCell, type Row } from "../cells.ts";
import { treeKinds, treeStatuses } from "../columns.ts";
import { FORMAT_KNOWN } from "../formats.ts";
import { treeConflict, treeUnknown } from "../refusals.ts";
import { requireSequence } from "../sequence.ts";
import { type Cell, hashCell, idCell, idOf, jsonCell, textCell } from "./cells.ts";
import { placeKey, placesOf } from "./place-keys.ts";
import { prepareProjections } from "./projections.ts";
import type { Prepare } from "./statements.ts";
import type { Transaction } from "./transaction.ts";

type Projections = Parameters<Store["replaceProjections"]>[1];

export interface OwnerWrites {
  commit(commit: Commit): void;
  markFailure(tree: TreeId, quarantine: boolean): void;
  release(tree: TreeId): void;
  replaceProjections(tree: TreeId, projections: Projections): void;
  setAnchor(anchor: Anchor): void;
  raiseFormat(format: number): void;
  leave(to: string, mail: number): boolean;
  expire(before: number, limit: number): readonly TreeId[];
}

export function prepareOwnerWrites(prepare: Prepare, transaction: Transaction, fence: () => void): OwnerWrites {
  const projections = prepareProjections(prepare);
  const createTree = prepare(`
    insert into trees (id, agent, kind, status, epoch, next_seq, hash, wake_at, busy, questions, format, created_at, updated_at)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (id) do nothing returning key`);
  const known = prepare(`
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
  const append = prepare(`insert into journal (id, at, hash, head, body) values (${placeKey("?", "?")}, ?, ?, ?, ?)`);
  const erase = prepare(`update journal set body = ? where id = ${placeKey("?", "?")}`);
  const blob = prepare("insert or ignore into blobs (tree, hash, text) values (?, ?, ?)");
  const snapshot = prepare("insert or replace into snapshots (tree, seq, revision, text) values (?, ?, ?, ?)");
  const send = prepare(`
    insert or ignore into outbox (tree, key, place, agent, text, at) values (?, ?, ${placeKey("?", "?")}, ?, ?, ?)`);
  const acknowledge = prepare("delete from outbox where tree = (select key from trees where id = ?) and key = ?");
  const keyOfTree = prepare("select key from trees where id = ?");
  const fail = prepare("update trees set failures = failures + 1 where id = ? returning key");
  const setStatus = prepare("update trees set status = ? where key = ?");
  const forgive = prepare("update trees set failures = 0 where id = ? returning key");
  const reopen = prepare("update trees set status = ? where key = ? and status = ?");
  const resting = prepare(`
    select key, id from trees where updated_at < ? and busy = 0 and wake_at is null and questions = 0 and status in (0, 1) and ${FORMAT_KNOWN}
    and not exists (select 1 from runs where ${placesOf("trees.key", "runs.key")} and delivery in (0, 1))
    and not exists (select 1 from posts where posts.tree = trees.id and seq is null)
    order by updated_at limit +?`);
  const bury = prepare(`
    update trees set status = 3, (next_seq, hash) = (
      select seq + 1, journal.hash from journal where ${placesOf("trees.key", "journal.id")} order by journal.id desc limit 1)
    where key = ?`);
  const graves = [
    `delete from journal where ${placesOf("?1", "id")}`,
    `delete from runs where ${placesOf("?1", "key")}`,
    ...["blobs", "snapshots", "outbox"].map((table) => `delete from ${table} where tree = ?1`),
  ].map(prepare);
  const forgetPosts = prepare("delete from posts where tree = ?");
  const anchor = prepare("insert or replace into anchor (only, at, wall, monotonic, boot) values (1, ?, ?, ?, ?)");

  const waiting = prepare("select count(*) as mail from posts where seq is null");
  const move = prepare("insert or replace into meta values ('moved', ?)");
  const raise = prepare(`
    insert into meta values ('format', ?) on conflict do update set value = max(value, excluded.value)`);

  function makeTree(part: TreeCommit, made: TreeCreation, id: Cell, hash: Cell): number {
    const { tree, epoch, expectedSeq, rows, wakeAt, at } = part;
    if (expectedSeq !== 1) throw treeConflict(tree, "a new tree's first row is 1");
    const named = [id, textCell(made.agent), treeKinds.cell(made.kind), treeStatuses.cell(part.status)];
    const next = (made.last?.seq ?? 0) + 1 + rows.length;
    const moving = [wakeAt, Number(part.busy), part.questions];
    const end = hash ?? hashCell(made.last?.hash ?? "");
    const row = createTree().get(...named, epoch, next, end, ...moving, made.format, at, at);
    if (row === undefined) throw treeConflict(tree, "it exists already");
    return numberOf(row, "key");
  }

  /** Changes the tree's row to what the commit leaves, where it must, and returns its key. The transaction already holds the writer's lock. */
  function moveTree(part: TreeCommit): number {
    const { tree, epoch, expectedSeq, rows, wakeAt } = part;
    const id = idCell(tree);
    const hash = optionalCell(rows.at(-1)?.hash ?? null, hashCell);
    if (part.create !== undefined) return makeTree(part, part.create, id, hash);
    const row = known().get(id);
    if (row === undefined) throw treeConflict(tree, "it does not exist");
    if (numberOf(row, "epoch") > epoch) throw treeConflict(tree, `epoch ${epoch} is over`);
    const next = numberOf(row, "next_seq");
    if (next !== expectedSeq) throw treeConflict(tree, `its next row is ${next}, not ${expectedSeq}`);
    const key = numberOf(row, "key");
    const after = expectedSeq + rows.length;
    const { at, questions } = part;
    const status = treeStatuses.cell(part.status);
    const busy = Number(part.busy);
    const settled = row["status"] === status && row["busy"] === busy && row["questions"] === questions;
    if (!settled) advanceIndexed().run(epoch, after, hash, at, status, wakeAt, busy, questions, key);
    else if (row["wake_at"] !== wakeAt) advanceWake().run(epoch, after, hash, at, wakeAt, key);
    else if (!part.busy || rows.length === 0 || row["epoch"] !== epoch) advance().run(epoch, after, hash, at, key);
    return key;
  }

  function write(part: TreeCommit): void {
    requireSequence(part);
    const key = moveTree(part);
    const tree = { key, id: part.tree };
    for (const { seq, head, body, hash } of part.rows) {
      append().run(key, seq, part.at, hashCell(hash), jsonCell(head), optionalCell(body, textCell));
    }
    for (const { hash, text } of part.blobs) blob().run(key, hashCell(hash), jsonCell(text));
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
  }

  const owned = <Result>(work: () => Result): Result =>
    transaction(() => {
      fence();
      return work();
    });

  return {
    commit({ trees, acknowledged }) {
      owned(() => {
        for (const part of trees) write(part);
        for (const { tree, key } of acknowledged) acknowledge().run(idCell(tree), textCell(key));
      });
    },
    markFailure(tree, quarantine) {
      owned(() => {
        const key = knownKey(fail().get(idCell(tree)), tree);
        if (quarantine) setStatus().run(treeStatuses.cell("quarantined"), key);
      });
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
      return owned(() =>
        resting()
          .all(before, limit)
          .map((row) => {
            const key = numberOf(row, "key");
            bury().run(key);
            for (const grave of graves) grave().run(key);
            forgetPosts().run(row["id"] ?? null);
            return asTreeId(idOf(row, "id"));
          }),
      );
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
