/**
 * Reading a PostgreSQL store, for every process.
 *
 * A worker sees what concerns it: wake times of its own trees, and mail for them or for trees that do not exist yet. A
 * reader (`worker` is null) sees those of all.
 */

import type { StoreWorker, TreeRecord, StoreReads } from "../../contracts/store.ts";
import type { TreeId } from "../../core/values/ids.ts";
import { found, inOrder, numberOf, optionalOf } from "../cells.ts";
import { runStates, treeStatuses } from "../codes.ts";
import { FIRST_FORMAT, FORMAT_KNOWN } from "../formats.ts";
import { records, textCell, textOf } from "./cells.ts";
import type { Database, Statement, Values } from "./database.ts";
import { OWNER_LIVES, workerLives } from "./membership.ts";

export interface Queries extends StoreReads {
  treeRecords(ids: readonly TreeId[]): Promise<TreeRecord[]>;
  /** The position in the order of arrival of each waiting mail. */
  pendingArrivals(limit: number): Promise<number[]>;
  workers(): Promise<StoreWorker[]>;
}

const { anchorOf, blobOf, journalRowOf, mailOf, outboxMessageOf, postOf, runOf, snapshotOf, treeIdOf, treeOf } =
  records;

const KEY_OF_TREE = "(select key from errand.trees where id = $1)";
const RUN = "select t.id as tree_id, r.* from errand.runs r join errand.trees t on t.key = r.tree";
/** Mail for trees of this worker, and for trees that do not exist; for a reader, all mail. */
const MY_MAIL = `
  from errand.posts p left join errand.trees t on t.id = p.tree
  where p.seq is null and ($2::integer is null or t.key is null or t.owner = $2)
  order by p.arrival limit $1`;

const statements = {
  tree: "select * from errand.trees where id = $1",
  "tree-records": "select * from errand.trees where id = any ($1::text[])",
  trees: `
    select * from errand.trees
    where key < case when $1::text is null then 9223372036854775807
                else coalesce((select key from errand.trees where id = $1), 0) end
      and ($2::smallint is null or status = $2)
    order by key desc limit $3`,
  "asking-trees": `
    select * from errand.trees
    where key < case when $1::text is null then 9223372036854775807
                else coalesce((select key from errand.trees where id = $1), 0) end
      and ($2::smallint is null or status = $2) and questions > 0
    order by key desc limit $3`,
  unfinished: `
    select id from errand.trees t where status = 0 and (busy or wake_at <= $1) and ${FORMAT_KNOWN}
    and ($2::integer is null or owner is null or owner = $2 or not ${OWNER_LIVES})
    order by key`,
  due: `
    select id from errand.trees where status = 0 and wake_at is not null and wake_at <= $1 and ${FORMAT_KNOWN}
    and ($2::integer is null or owner = $2) order by wake_at, key`,
  "next-wake": `
    select min(wake_at) as wake_at from errand.trees where status = 0 and wake_at is not null and ${FORMAT_KNOWN}
    and ($1::integer is null or owner = $1)`,
  rows: `select * from errand.journal where tree = ${KEY_OF_TREE} and seq >= $2 order by seq limit $3`,
  blob: `select text from errand.blobs where tree = ${KEY_OF_TREE} and hash = $2`,
  blobs: `select hash, text from errand.blobs where tree = ${KEY_OF_TREE}`,
  snapshot: `select * from errand.snapshots where tree = ${KEY_OF_TREE}`,
  run: `${RUN} where r.id = $1 order by r.tree limit 1`,
  "run-of-agent": `${RUN} where r.agent = $1 order by r.tree limit 1`,
  "runs-of-tree": `${RUN} where t.id = $1 and ($2::smallint is null or r.state = $2) order by r.number limit $3`,
  "live-runs": `${RUN} where r.state <> 4 and r.state = $1 order by r.tree desc, r.number limit $2`,
  "all-runs": `${RUN} where ($1::smallint is null or r.state = $1) order by r.tree desc, r.number limit $2`,
  post: "select * from errand.posts where tree = $1 and id = $2 and seq is not null",
  posts: "select * from errand.posts where tree = $1 and seq is not null",
  "pending-mail": `select p.* ${MY_MAIL}`,
  "pending-arrivals": `select p.arrival ${MY_MAIL}`,
  "pending-outbox": `select * from errand.outbox where tree = ${KEY_OF_TREE} order by arrival`,
  "outbox-trees": "select id from errand.trees where key in (select tree from errand.outbox) order by key",
  format: "select value::integer as format from errand.meta where name = 'format'",
  anchor: "select * from errand.anchor",
  workers: `select name, pool is not null as takes from errand.workers t where ${workerLives("t.id")} order by id`,
} as const;

function statement(name: keyof typeof statements): Statement {
  return { name: `errand-${name}`, text: statements[name] };
}

export function createQueries(database: Database, worker: number | null): Queries {
  const all = (name: keyof typeof statements, ...values: Values) => database.ask(statement(name), values);
  /** For periodic duties, which run again. */
  const once = (name: keyof typeof statements, ...values: Values) => database.askOnce(statement(name), values);
  const first = async (...asked: Parameters<typeof all>) => (await all(...asked))[0];
  return {
    treeRecords: async (ids) => (await once("tree-records", ids.map(textCell))).map(treeOf),
    tree: async (id) => found(await first("tree", textCell(id)), treeOf),
    async trees({ status, asking, before, limit }) {
      const wanted = status === undefined ? null : treeStatuses.cell(status);
      const name = asking === true ? "asking-trees" : "trees";
      return (await all(name, before === undefined ? null : textCell(before), wanted, limit)).map(treeOf);
    },
    unfinished: async (at) => (await all("unfinished", at, worker)).map(treeIdOf),
    due: async (at) => (await once("due", at, worker)).map(treeIdOf),
    nextWake: async () => optionalOf((await once("next-wake", worker))[0], "wake_at", numberOf),
    rows: async (id, from, limit) => (await all("rows", textCell(id), from, limit)).map(journalRowOf),
    blob: async (id, hash) => found(await first("blob", textCell(id), textCell(hash)), (row) => textOf(row, "text")),
    blobs: async (id) => inOrder((await all("blobs", textCell(id))).map(blobOf), ({ hash }) => hash),
    snapshot: async (id) => found(await first("snapshot", textCell(id)), snapshotOf),
    run: async (id) => found(await first("run", textCell(id)), runOf),
    runOfAgent: async (agent) => found(await first("run-of-agent", textCell(agent)), runOf),
    async runs({ tree, state, limit }) {
      const wanted = state === undefined ? null : runStates.cell(state);
      if (tree !== undefined) return (await all("runs-of-tree", textCell(tree), wanted, limit)).map(runOf);
      const live = state !== undefined && state !== "ended";
      return (await all(live ? "live-runs" : "all-runs", wanted, limit)).map(runOf);
    },
    post: async (id, postId) => found(await first("post", textCell(id), textCell(postId)), postOf),
    posts: async (id) => inOrder((await all("posts", textCell(id))).map(postOf), (post) => post.id),
    pendingMail: async (limit) => (await once("pending-mail", limit, worker)).map(mailOf),
    pendingArrivals: async (limit) =>
      (await once("pending-arrivals", limit, worker)).map((row) => numberOf(row, "arrival")),
    pendingOutbox: async (id) => (await all("pending-outbox", textCell(id))).map(outboxMessageOf),
    outboxTrees: async () => (await all("outbox-trees")).map(treeIdOf),
    workers: async () =>
      (await all("workers")).map((row) => ({ name: textOf(row, "name"), takes: row["takes"] === true })),
    format: async () => found(await first("format"), (row) => numberOf(row, "format")) ?? FIRST_FORMAT,
    anchor: async () => found(await first("anchor"), anchorOf),
  };
}
