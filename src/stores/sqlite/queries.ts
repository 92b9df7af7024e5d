import type { StoreReads } from "../../contracts/store.ts";
/**
 * Reading a SQLite store, for every process, owner or not.
 *
 * Invariant: a statement is prepared once. SQLite would plan a statement with a bare parameter after LIMIT again at
 * each new value; with a plus sign before it, it does not.
 */

import { found, inOrder, numberOf } from "../cells.ts";
import { runStates, treeStatuses } from "../codes.ts";
import { FIRST_FORMAT, FORMAT_KNOWN } from "../formats.ts";
import { hashCell, idCell, records, textOf } from "./cells.ts";
import type { Prepare } from "./connection.ts";
import { rowsOfTree } from "./schema.ts";

/** Runs a read, again if the file is locked. */
export type Read = <Result>(work: () => Result) => Promise<Result>;

const { anchorOf, blobOf, journalRowOf, mailOf, outboxMessageOf, postOf, runOf, snapshotOf, treeIdOf, treeOf } =
  records;

const KEY_OF_TREE = "(select key from trees where id = ?)";
const RUN = "select t.id as tree_id, r.* from";
/**
 * A tree, with what its last journal row has newer, because the tree's row is not written while it works. If the
 * journal lost rows, the tree's row is the newer one and shows it.
 */
const treeFrom = (trees: string): string => `
  select t.id, t.agent, t.kind, t.status, t.epoch, max(t.next_seq, coalesce(j.seq + 1, 0)) as next_seq,
    iif(j.seq >= t.next_seq, j.hash, t.hash) as hash, t.wake_at, t.busy, t.questions,
    t.format, t.failures, t.unplaced, t.created_at, max(t.updated_at, coalesce(j.at, 0)) as updated_at
  from ${trees} left join journal j on j.id = (select max(id) from journal where ${rowsOfTree("t.key", "id")})`;

export function createQueries(prepare: Prepare, read: Read): StoreReads {
  const tree = prepare(`${treeFrom("trees t")} where t.id = ?`);
  const earlier = `
    t.key < case when :before is null then 9223372036854775807 else (select key from trees where id = :before) end
      and (:status is null or t.status = :status)`;
  const trees = prepare(`${treeFrom("trees t")} where ${earlier} order by t.key desc limit +:limit`);
  const askingTrees = prepare(`
    ${treeFrom("trees t indexed by trees_asking")} where ${earlier} and t.questions > 0
    order by t.key desc limit +:limit`);
  const unfinished = prepare(`
    select id from trees where key in (
      select key from trees where status = 0 and busy = 1 and ${FORMAT_KNOWN}
      union select key from trees where status = 0 and wake_at is not null and wake_at <= ? and ${FORMAT_KNOWN}
    ) order by key`);
  const due = prepare(`
    select id from trees where status = 0 and wake_at is not null and wake_at <= ? and ${FORMAT_KNOWN}
    order by wake_at, key`);
  const nextWake = prepare(`
    select wake_at from trees where status = 0 and wake_at is not null and ${FORMAT_KNOWN} order by wake_at limit 1`);
  const rows = prepare(`
    select j.seq, j.head, j.body, j.hash from trees t cross join journal j on ${rowsOfTree("t.key", "j.id", ":from")}
    where t.id = :tree order by j.id limit +:limit`);
  const blobs = prepare(`
    select b.hash, b.text from trees t join blob_members m on m.blob_set = t.blobs join blobs b on b.hash = m.hash
    where t.id = ?`);
  const blob = prepare(`
    select b.text from trees t join blob_members m on m.blob_set = t.blobs join blobs b on b.hash = m.hash
    where t.id = ? and m.hash = ?`);
  const snapshot = prepare(`select * from snapshots where tree = ${KEY_OF_TREE}`);
  const run = prepare(`${RUN} runs r join trees t on t.key = r.tree where r.id = ? order by r.key limit 1`);
  const runOfAgent = prepare(`${RUN} runs r join trees t on t.key = r.tree where r.agent = ? order by r.key limit 1`);
  const runsOfTree = prepare(`
    ${RUN} trees t cross join runs r on ${rowsOfTree("t.key", "r.key")}
    where t.id = :tree and (:state is null or r.state = :state) order by r.key limit +:limit`);
  const liveRuns = prepare(`
    ${RUN} runs r indexed by runs_live join trees t on t.key = r.tree
    where r.state <> 4 and r.state = :state order by r.tree desc, r.number limit +:limit`);
  const allRuns = prepare(`
    ${RUN} trees t cross join runs r on ${rowsOfTree("t.key", "r.key")}
    where (:state is null or r.state = :state) order by t.key desc, r.key limit +:limit`);
  const post = prepare("select * from posts where tree = ? and id = ? and seq is not null");
  const posts = prepare("select * from posts where tree = ? and seq is not null");
  const pendingMail = prepare("select * from posts where seq is null order by arrival limit +?");
  const pendingOutbox = prepare(`select * from outbox where tree = ${KEY_OF_TREE} order by place`);
  const outboxTrees = prepare("select id from trees where key in (select tree from outbox) order by key");
  const format = prepare("select value from meta where name = 'format'");
  const anchor = prepare("select * from anchor");

  return {
    tree: (id) => read(() => found(tree().get(idCell(id)), treeOf)),
    trees({ status, asking, before, limit }) {
      const wanted = status === undefined ? null : treeStatuses.cell(status);
      const values = { status: wanted, before: before === undefined ? null : idCell(before), limit };
      return read(() => (asking === true ? askingTrees : trees)().all(values).map(treeOf));
    },
    unfinished: (at) => read(() => unfinished().all(at).map(treeIdOf)),
    due: (at) => read(() => due().all(at).map(treeIdOf)),
    nextWake: () => read(() => found(nextWake().get(), (row) => numberOf(row, "wake_at"))),
    rows: (id, from, limit) =>
      read(() =>
        rows()
          .all({ tree: idCell(id), from, limit })
          .map(journalRowOf),
      ),
    blob: (id, hash) => read(() => found(blob().get(idCell(id), hashCell(hash)), (row) => textOf(row, "text"))),
    blobs: (id) => read(() => inOrder(blobs().all(idCell(id)).map(blobOf), ({ hash }) => hash)),
    snapshot: (id) => read(() => found(snapshot().get(idCell(id)), snapshotOf)),
    run: (id) => read(() => found(run().get(idCell(id)), runOf)),
    runOfAgent: (agent) => read(() => found(runOfAgent().get(idCell(agent)), runOf)),
    runs({ tree: id, state, limit }) {
      const wanted = state === undefined ? null : runStates.cell(state);
      if (id !== undefined) {
        const values = { tree: idCell(id), state: wanted, limit };
        return read(() => runsOfTree().all(values).map(runOf));
      }
      const live = state !== undefined && state !== "ended";
      return read(() => (live ? liveRuns : allRuns)().all({ state: wanted, limit }).map(runOf));
    },
    post: (id, postId) => read(() => found(post().get(idCell(id), idCell(postId)), postOf)),
    posts: (id) => read(() => inOrder(posts().all(idCell(id)).map(postOf), (post) => post.id)),
    pendingMail: (limit) => read(() => pendingMail().all(limit).map(mailOf)),
    pendingOutbox: (id) => read(() => pendingOutbox().all(idCell(id)).map(outboxMessageOf)),
    outboxTrees: () => read(() => outboxTrees().all().map(treeIdOf)),
    format: () => read(() => found(format().get(), (row) => numberOf(row, "value")) ?? FIRST_FORMAT),
    anchor: () => read(() => found(anchor().get(), anchorOf)),
  };
}

/** A number that changes when another process has written. */
export function prepareDataVersion(prepare: Prepare): () => number {
  const dataVersion = prepare("pragma data_version");
  return () => numberOf(dataVersion().get(), "data_version");
}
