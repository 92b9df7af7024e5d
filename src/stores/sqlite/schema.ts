/**
 * The schema of a SQLite store and the steps that lead to it.
 *
 * Invariants:
 *  1. A file is an Errand store when its header says so (`application_id`); its `user_version` is the number of migrations it has
 *     had. Both are set in the transaction of the migration, so a file is never between two versions.
 *  2. A migration that was released is not changed; the next one is appended.
 *  3. Trees are numbered: the key, not the id, stands in the rows and indexes that grow with the work. Rows of the journal and runs are
 *     numbered by tree and place in one integer, the key of their table (`place-keys.ts`).
 *
 * Why the journal is a rowid table: in one WITHOUT ROWID a row of more than a quarter page spills over.
 *
 * `posts` is mail and posts in one: mail has a payload and no sequence, a taken post a sequence and no payload; its key is the
 * order of arrival. It names the tree by id, because mail may come before its tree is made. Codes of `status` and `state` stand in
 * `../columns.ts`; 0 is an open tree, 4 an ended run.
 */

import { JOURNAL_FORMAT } from "../../core/journal/revision.ts";
import { numberOf } from "../cells.ts";
import type { Connection } from "./connection.ts";
import type { Transaction } from "./transaction.ts";

/** "Erra" in ASCII. */
export const APPLICATION_ID = 0x45727261;

export const MIGRATIONS: readonly string[] = [
  `
  create table meta (
    name text not null primary key,
    value any not null
  ) strict, without rowid;

  create table anchor (
    only integer primary key,
    at any not null,
    wall any not null,
    monotonic any not null,
    boot any not null
  ) strict;

  create table trees (
    key integer primary key,
    id any not null unique,
    agent any not null,
    kind integer not null,
    status integer not null,
    epoch integer not null,
    next_seq integer not null,
    hash any not null,
    wake_at integer,
    busy integer not null,
    format integer not null,
    failures integer not null default 0,
    created_at integer not null,
    updated_at integer not null
  ) strict;
  create index trees_busy on trees (busy) where status = 0 and busy = 1;
  create index trees_waking on trees (wake_at) where status = 0 and wake_at is not null;

  create table journal (
    tree integer not null,
    seq integer not null,
    head any not null,
    body any,
    hash any not null,
    primary key (tree, seq)
  ) strict;

  create table blobs (
    tree integer not null,
    hash any not null,
    text any not null,
    primary key (tree, hash)
  ) strict;

  create table snapshots (
    tree integer primary key,
    seq integer not null,
    revision any not null,
    text any not null
  ) strict;

  create table posts (
    arrival integer primary key,
    tree any not null,
    id any not null,
    hash any not null,
    payload any,
    seq integer,
    ended_seq integer,
    unique (tree, id)
  ) strict;
  create index posts_pending on posts (arrival) where seq is null;

  create table runs (
    tree integer not null,
    number integer not null,
    id any not null,
    agent any not null,
    parent integer not null,
    mode integer not null,
    definition any not null,
    name any not null,
    state integer not null,
    status integer,
    reason any,
    report integer,
    nudged integer not null,
    delivery integer not null,
    undeliverable any,
    batch any,
    cleanup integer not null,
    created_at integer not null,
    started_at integer,
    ended_at integer,
    deadline integer,
    tokens integer not null,
    cost integer not null,
    created_seq integer not null,
    ended_seq integer,
    primary key (tree, number)
  ) strict;
  create index runs_id on runs (id);
  create index runs_agent on runs (agent);
  create index runs_live on runs (tree, number) where state <> 4;

  create table outbox (
    arrival integer primary key,
    tree integer not null,
    key any not null,
    agent integer not null,
    text any not null,
    at integer not null,
    unique (tree, key)
  ) strict;

  pragma application_id = ${APPLICATION_ID};
  `,
  `
  alter table trees add column questions integer not null default 0;
  create index trees_asking on trees (key) where questions > 0;
  `,
  `
  alter table journal rename to journal_before;
  create table journal (
    id integer primary key,
    at integer not null,
    hash any not null,
    head any not null,
    body any,
    tree integer as (id >> 32) virtual,
    seq integer as (id & 0xffffffff) virtual
  ) strict;
  insert into journal (id, at, hash, head, body)
    select j.tree << 32 | j.seq, t.updated_at, j.hash, j.head, j.body
    from journal_before j join trees t on t.key = j.tree order by j.tree, j.seq;
  drop table journal_before;

  alter table runs rename to runs_before;
  drop index runs_id;
  drop index runs_agent;
  drop index runs_live;
  create table runs (
    key integer primary key,
    id any not null,
    agent any not null,
    parent integer not null,
    mode integer not null,
    definition any not null,
    name any not null,
    state integer not null,
    status integer,
    reason any,
    report integer,
    nudged integer not null,
    delivery integer not null,
    undeliverable any,
    batch any,
    cleanup integer not null,
    created_at integer not null,
    started_at integer,
    ended_at integer,
    deadline integer,
    tokens integer not null,
    cost integer not null,
    created_seq integer not null,
    ended_seq integer,
    tree integer as (key >> 32) virtual,
    number integer as (key & 0xffffffff) virtual
  ) strict;
  insert into runs
    select tree << 32 | number, id, agent, parent, mode, definition, name, state, status, reason, report, nudged, delivery, undeliverable, batch, cleanup,
      created_at, started_at, ended_at, deadline, tokens, cost, created_seq, ended_seq
    from runs_before order by tree, number;
  drop table runs_before;
  create index runs_id on runs (id);
  create index runs_agent on runs (agent);
  create index runs_live on runs (key) where state <> 4;

  alter table outbox rename to outbox_before;
  create table outbox (
    tree integer not null,
    key any not null,
    place integer not null,
    agent integer not null,
    text any not null,
    at integer not null,
    primary key (tree, key)
  ) strict, without rowid;
  insert into outbox select tree, key, arrival - (1 << 40), agent, text, at from outbox_before;
  drop table outbox_before;
  `,
  `
  alter table blobs rename to blobs_before;
  create table blobs (
    hash any not null primary key,
    text any not null
  ) strict;
  create table blob_sets (
    key integer primary key,
    name any not null unique
  ) strict;
  create table blob_members (
    blob_set integer not null,
    hash any not null,
    primary key (blob_set, hash)
  ) strict, without rowid;
  alter table trees add column blobs integer;

  create table sets_before (tree integer primary key, name text not null);
  insert into sets_before select tree, group_concat(hex(hash) order by hash) from blobs_before group by tree;
  insert or ignore into blobs select hash, text from blobs_before;
  insert into blob_sets (name) select distinct name from sets_before;
  insert into blob_members
    select s.key, b.hash from blob_sets s join (select name, min(tree) as tree from sets_before group by name) f on f.name = s.name
    join blobs_before b on b.tree = f.tree;
  update trees set blobs = (select s.key from sets_before f join blob_sets s on s.name = f.name where f.tree = trees.key);
  drop table sets_before;
  drop table blobs_before;
  `,
  "alter table trees add column unplaced any;",
];

export const SCHEMA_VERSION = MIGRATIONS.length;

/** The tables that the last of the migrations leaves. */
const TABLES = [
  "meta",
  "anchor",
  "trees",
  "journal",
  "blobs",
  "blob_sets",
  "blob_members",
  "snapshots",
  "posts",
  "runs",
  "outbox",
] as const;

/** A table that the store should have and has not, or null. */
export function missingTable(db: Connection): string | null {
  const held = new Set(
    db
      .prepare("select name from sqlite_schema where type = 'table'")
      .all()
      .map(({ name }) => name),
  );
  return TABLES.find((name) => !held.has(name)) ?? null;
}

/**
 * Brings a store to the last of the migrations, in one transaction with what `beside` writes: a reader never meets a version
 * between. Run by the owner alone.
 */
export function migrate(
  db: Connection,
  transaction: Transaction,
  migrations: readonly string[] = MIGRATIONS,
  beside: () => void = () => {},
): void {
  const current = numberOf(db.prepare("pragma user_version").get(), "user_version");
  if (current >= migrations.length) return;
  transaction(() => {
    for (const sql of migrations.slice(current)) db.exec(sql);
    if (current === 0) db.prepare("insert into meta values ('format', ?)").run(JOURNAL_FORMAT);
    db.exec(`pragma user_version = ${migrations.length}`);
    beside();
  });
}
