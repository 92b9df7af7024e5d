/**
 * The tables of a PostgreSQL store, which are in the database's schema `errand`.
 *
 * Invariants:
 *  1. The tables are created under an advisory lock, in one transaction with the number of their version.
 *  2. A store of an older version is refused. So is one of a newer version, unless its `oldest` says that processes of
 *     this version may still use it.
 *  3. Trees are numbered: rows that grow with the work contain the tree's key, not its id. The key is the first column
 *     of their primary keys, so that those tables can be partitioned by it.
 *
 * `posts` contains mail and posts, as in SQLite: mail has a payload and no sequence, a taken post has a sequence and no
 * payload. `arrival` is only the order in which waiting mail is taken. Transactions commit in another order, so no
 * reader may remember a position in it. The codes of `status` and `state` are in `../codes.ts`; 0 is an open tree, 4 an
 * ended run.
 *
 * `workers.pool` is the name under which a worker's dispatcher locks jobs, null for a worker that takes no free trees.
 * `trees.unplaced` says why the last process that wanted to run the tree could not. A statement calls `errand.require`
 * to fail when it changed fewer rows than asked, so that COMMIT can be sent with it; `what` names the refusal.
 */

import type { ClientBase } from "pg";
import { JOURNAL_FORMAT } from "../../core/journal/revision.ts";
import { ErrandError } from "../../errors.ts";
import { REFUSED } from "./postgres-errors.ts";

/** "Erra" in ASCII: the first of the two numbers of every advisory lock of Errand. */
export const LOCK_CLASS = 0x45727261;
const SCHEMA_LOCK = 0;

/** Raised with every change of the schema. Versions 1 to 4 were never released. */
const SCHEMA_VERSION = 5;

const SCHEMA = `
  create schema if not exists errand;

  create table errand.meta (
    name text primary key,
    value text not null
  );

  create table errand.workers (
    id integer generated always as identity primary key,
    name text not null,
    started_at timestamptz not null default clock_timestamp(),
    seen_at timestamptz not null default clock_timestamp(),
    pool text
  );

  create table errand.anchor (
    single boolean primary key check (single),
    at double precision not null,
    wall double precision not null,
    monotonic double precision not null,
    boot text not null
  );

  create table errand.trees (
    key bigint generated always as identity primary key,
    id text collate "C" not null unique,
    agent text not null,
    kind smallint not null,
    status smallint not null,
    epoch bigint not null,
    next_seq bigint not null,
    hash text not null,
    wake_at bigint,
    busy boolean not null,
    questions integer not null,
    format integer not null,
    failures integer not null default 0,
    unplaced text,
    created_at bigint not null,
    updated_at bigint not null,
    owner integer
  ) with (fillfactor = 70);
  create index trees_busy on errand.trees (owner) where status = 0 and busy;
  create index trees_waking on errand.trees (owner, wake_at) where status = 0 and wake_at is not null;
  create index trees_asking on errand.trees (key) where questions > 0;
  create index trees_owned on errand.trees (owner) where owner is not null;

  create table errand.journal (
    tree bigint not null,
    seq bigint not null,
    head text not null,
    body text,
    hash text not null,
    primary key (tree, seq)
  );

  create table errand.blobs (
    tree bigint not null,
    hash text collate "C" not null,
    text text not null,
    primary key (tree, hash)
  );

  create table errand.snapshots (
    tree bigint primary key,
    seq bigint not null,
    revision text not null,
    text text not null
  );

  create table errand.posts (
    tree text collate "C" not null,
    id text collate "C" not null,
    arrival bigint generated always as identity,
    hash text not null,
    payload text,
    seq bigint,
    ended_seq bigint,
    primary key (tree, id)
  );
  create index posts_pending on errand.posts (arrival) where seq is null;

  create table errand.runs (
    tree bigint not null,
    number integer not null,
    id text collate "C" not null,
    agent text collate "C" not null,
    parent integer not null,
    mode smallint not null,
    definition text not null,
    name text not null,
    state smallint not null,
    status smallint,
    reason text,
    report smallint,
    nudged boolean not null,
    delivery smallint not null,
    undeliverable text,
    batch text,
    cleanup smallint not null,
    created_at bigint not null,
    started_at bigint,
    ended_at bigint,
    deadline bigint,
    tokens bigint not null,
    cost bigint not null,
    created_seq bigint not null,
    ended_seq bigint,
    primary key (tree, number)
  );
  create index runs_id on errand.runs (id);
  create index runs_agent on errand.runs (agent);
  create index runs_live on errand.runs (tree, number) where state <> 4;

  create table errand.outbox (
    tree bigint not null,
    key text collate "C" not null,
    arrival bigint generated always as identity,
    agent integer not null,
    text text not null,
    at bigint not null,
    primary key (tree, key)
  );

  create function errand.require(done bigint, asked bigint, what text) returns void language plpgsql as $$
  begin
    if done <> asked then
      raise exception using errcode = '${REFUSED}', message = what;
    end if;
  end
  $$;

  insert into errand.meta values
    ('version', '${SCHEMA_VERSION}'), ('oldest', '${SCHEMA_VERSION}'),
    ('format', '${JOURNAL_FORMAT}'), ('id', gen_random_uuid()::text);
`;

interface Found {
  readonly version: number;
  readonly oldest: number;
}

/** The version of the store in the database, or null if there is none yet. */
async function schemaOf(client: ClientBase): Promise<Found | null> {
  const { rows: tables } = await client.query<{ there: boolean }>(
    // Not to_regclass: in a transaction it may answer from the session's cache.
    "select exists (select 1 from pg_tables where schemaname = 'errand' and tablename = 'meta') as there",
  );
  if (tables[0]?.there !== true) return null;
  const { rows } = await client.query<{ name: string; value: string }>("select name, value from errand.meta");
  const numbers = new Map(rows.map(({ name, value }) => [name, Number(value)]));
  return { version: numbers.get("version") ?? 0, oldest: numbers.get("oldest") ?? 0 };
}

function requireReadable({ version, oldest }: Found, description: string): void {
  if (oldest > SCHEMA_VERSION) {
    throw new ErrandError("store-too-new", `${description} was changed by a newer version of Errand.`, {
      remedy: "Update Errand.",
    });
  }
  if (version >= SCHEMA_VERSION) return;
  const why = `its schema has version ${version}, and this Errand reads version ${SCHEMA_VERSION}`;
  throw new ErrandError("store-unreadable", `${description} cannot be opened: ${why}.`, {
    remedy: "Use the version of Errand that wrote it, or name another database.",
  });
}

/** Throws unless the database is a store that this version can read. Changes nothing. */
export async function requireSchema(client: ClientBase, description: string): Promise<void> {
  const found = await schemaOf(client);
  if (found !== null) return requireReadable(found, description);
  throw new ErrandError("store-unreadable", `${description} cannot be opened: there is no store yet.`, {
    details: { missing: true },
    remedy: "Start a process that runs trees once, such as `errand worker`; it creates the store.",
  });
}

/** Creates the tables unless the database has them. Several processes may do so at once. */
export async function createSchema(client: ClientBase, description: string): Promise<void> {
  const found = await schemaOf(client);
  if (found !== null) return requireReadable(found, description);
  await client.query("begin");
  try {
    await client.query("set local lock_timeout = 0; set local statement_timeout = 0");
    await client.query("select pg_advisory_xact_lock($1, $2)", [LOCK_CLASS, SCHEMA_LOCK]);
    if ((await schemaOf(client)) === null) await client.query(SCHEMA);
    await client.query("commit");
  } catch (error) {
    await client.query("rollback");
    throw error;
  }
}
