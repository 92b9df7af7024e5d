/**
 * The schema of a SQLite store.
 *
 * Invariants:
 *  1. A file is an Errand store if its header says so (`application_id`); `user_version` is the version of its schema.
 *     Both are set in the transaction that creates the tables.
 *  2. A store of another schema version is refused (`open-database.ts`).
 *  3. Trees are numbered: rows and indexes that grow with the work contain the tree's key, not its id. Rows of the
 *     journal and runs have one integer as their key, made of the tree's key and a number within the tree (`rowKey`).
 *     So the rows of a tree are stored together, in order, without an index.
 *
 * The journal is a rowid table, because in a WITHOUT ROWID table a row of more than a quarter page needs another page.
 *
 * `posts` contains mail and posts: mail has a payload and no sequence, a taken post has a sequence and no payload. Its
 * key is the order of arrival. It names the tree by id, because mail may arrive before its tree exists. The codes of
 * `status` and `state` are in `../codes.ts`; 0 is an open tree, 4 an ended run.
 */

import { DatabaseSync } from "node:sqlite";
import { JOURNAL_FORMAT } from "../../core/journal/revision.ts";
import { numberOf } from "../cells.ts";
import type { Connection, Transaction } from "./connection.ts";

/** "Erra" in ASCII. */
export const APPLICATION_ID = 0x45727261;

/** Raised with every change of the schema. Versions 1 to 5 were never released. */
export const SCHEMA_VERSION = 6;

const SCHEMA = `
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
    questions integer not null default 0,
    format integer not null,
    failures integer not null default 0,
    unplaced any,
    blobs integer,
    created_at integer not null,
    updated_at integer not null
  ) strict;
  create index trees_busy on trees (busy) where status = 0 and busy = 1;
  create index trees_waking on trees (wake_at) where status = 0 and wake_at is not null;
  create index trees_asking on trees (key) where questions > 0;

  create table journal (
    id integer primary key,
    at integer not null,
    hash any not null,
    head any not null,
    body any,
    tree integer as (id >> 32) virtual,
    seq integer as (id & 0xffffffff) virtual
  ) strict;

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
  create index runs_id on runs (id);
  create index runs_agent on runs (agent);
  create index runs_live on runs (key) where state <> 4;

  create table outbox (
    tree integer not null,
    key any not null,
    place integer not null,
    agent integer not null,
    text any not null,
    at integer not null,
    primary key (tree, key)
  ) strict, without rowid;

  pragma application_id = ${APPLICATION_ID};
  pragma user_version = ${SCHEMA_VERSION};
`;

const TABLES = Array.from(SCHEMA.matchAll(/create table (\w+)/g), ([, name]) => name ?? "");

/** A table that the store should have and has not, or null. */
export function missingTable(db: Connection): string | null {
  const rows = db.prepare("select name from sqlite_schema where type = 'table'").all();
  const existing = new Set(rows.map(({ name }) => name));
  return TABLES.find((name) => !existing.has(name)) ?? null;
}

/**
 * True if the database has the tables and indexes of a store and nothing else. A database that came from elsewhere may
 * have views and triggers that do any amount of work, so only its list of tables is read.
 */
export function schemaIsKnown(db: Connection): boolean {
  const reference = new DatabaseSync(":memory:");
  try {
    reference.exec(SCHEMA);
    return schemaText(db) === schemaText(reference);
  } finally {
    reference.close();
  }
}

function schemaText(db: Connection): string {
  const rows = db.prepare("select type, name, tbl_name, sql from sqlite_schema order by type, name, tbl_name, sql");
  return JSON.stringify(rows.all());
}

/**
 * Creates the tables unless the file has them, in one transaction with what `beside` writes, so that no reader finds
 * only a part. Called by the owner.
 */
export function createSchema(db: Connection, transaction: Transaction, beside: () => void = () => {}): void {
  if (numberOf(db.prepare("pragma user_version").get(), "user_version") !== 0) return;
  transaction(() => {
    db.exec(SCHEMA);
    db.prepare("insert into meta values ('format', ?)").run(JOURNAL_FORMAT);
    beside();
  });
}

/**
 * SQL for the key of a row: of a tree's key and a number within the tree. A JavaScript number cannot hold every key.
 */
export function rowKey(tree: string, number: string): string {
  return `((${tree} << 32) | ${number})`;
}

/** A condition in SQL: `key` is the key of a row of the tree, with this number or a higher one. */
export function rowsOfTree(tree: string, key: string, from = "0"): string {
  return `${key} >= ${rowKey(tree, from)} and ${key} < ((${tree} + 1) << 32)`;
}
