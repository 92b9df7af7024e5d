/**
 * The schema of a PostgreSQL store and the steps that lead to it. Everything stands in the database's schema `errand`.
 *
 * Invariants:
 *  1. Migrations run one after the other under an advisory lock, all in one transaction with the number they lead to.
 *  2. A migration that was released is not changed; the next one is appended. It adds, so that processes of the version before go on
 *     beside those of the new one; `oldest` is the oldest schema whose processes may still run.
 *  3. Trees are numbered: the key, not the id, stands in the rows that grow with the work, and it leads every primary key that does,
 *     so that those tables can be partitioned by it.
 *
 * `posts` is mail and posts in one, as in SQLite: mail has a payload and no sequence, a taken post a sequence and no payload. `arrival`
 * is only the order in which waiting mail is taken: transactions commit out of its order, so nothing keeps a place in it. Codes of
 * `status` and `state` stand in `../columns.ts`; 0 is an open tree, 4 an ended run.
 */

import type { ClientBase } from "pg";
import { JOURNAL_FORMAT } from "../../core/journal/revision.ts";
import { ErrandError } from "../../errors.ts";
import { REFUSED } from "./postgres-errors.ts";

/** "Erra" in ASCII: the first of the two numbers of every advisory lock of Errand. */
export const LOCK_CLASS = 0x45727261;
const MIGRATION_LOCK = 0;

const MIGRATIONS: readonly string[] = [
  `
  create schema if not exists errand;

  create table errand.meta (
    name text primary key,
    value text not null
  );

  create table errand.workers (
    id integer generated always as identity primary key,
    name text not null,
    started_at timestamptz not null default clock_timestamp(),
    seen_at timestamptz not null default clock_timestamp()
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
  `,
  // Who takes trees that nobody runs, and under which name the dispatcher locks its jobs.
  "alter table errand.workers add column pool text;",
  // How a statement refuses by itself, so that the COMMIT can travel with it: `what` names the refusal.
  `
  create function errand.require(done bigint, asked bigint, what text) returns void language plpgsql as $$
  begin
    if done <> asked then
      raise exception using errcode = '${REFUSED}', message = what;
    end if;
  end
  $$;
  `,
  // A random id, as every store has one.
  "insert into errand.meta values ('id', gen_random_uuid()::text) on conflict do nothing;",
  // Why the last process that wanted to run the tree could not.
  "alter table errand.trees add column unplaced text;",
];

const SCHEMA_VERSION = MIGRATIONS.length;
/** The oldest schema whose processes understand what this one makes of the database. */
const OLDEST_VERSION = 1;

interface Found {
  readonly version: number;
  readonly oldest: number;
}

/** What the database holds, or null if it is no store yet. */
async function schemaOf(client: ClientBase): Promise<Found | null> {
  const { rows: tables } = await client.query<{ there: boolean }>(
    // Not to_regclass: within a transaction it may answer from what the session knew before.
    "select exists (select 1 from pg_tables where schemaname = 'errand' and tablename = 'meta') as there",
  );
  if (tables[0]?.there !== true) return null;
  const { rows } = await client.query<{ name: string; value: string }>("select name, value from errand.meta");
  const numbers = new Map(rows.map(({ name, value }) => [name, Number(value)]));
  return { version: numbers.get("version") ?? 0, oldest: numbers.get("oldest") ?? 0 };
}

function requireOurs({ oldest }: Found, description: string): void {
  if (oldest <= SCHEMA_VERSION) return;
  throw new ErrandError("store-too-new", `${description} was changed by a newer version of Errand.`, {
    remedy: "Update Errand.",
  });
}

/** Throws unless the database is a store that this version can read. Changes nothing. */
export async function requireSchema(client: ClientBase, description: string): Promise<void> {
  const found = await schemaOf(client);
  if (found === null || found.version < SCHEMA_VERSION) {
    const why =
      found === null ? "there is no store yet" : `its schema is version ${found.version}, not ${SCHEMA_VERSION}`;
    throw new ErrandError("store-unreadable", `${description} cannot be opened: ${why}.`, {
      remedy: "Start a process that runs trees once, such as `errand worker`; it makes and upgrades it.",
    });
  }
  requireOurs(found, description);
}

/** Brings the database to the last of the migrations. Several processes may do so at once. */
export async function migrate(client: ClientBase, description: string): Promise<void> {
  const found = await schemaOf(client);
  if (found !== null) requireOurs(found, description);
  if (found !== null && found.version >= SCHEMA_VERSION) return;
  await client.query("begin");
  try {
    await client.query("set local lock_timeout = 0; set local statement_timeout = 0");
    await client.query("select pg_advisory_xact_lock($1, $2)", [LOCK_CLASS, MIGRATION_LOCK]);
    const current = (await schemaOf(client))?.version ?? 0;
    for (const sql of MIGRATIONS.slice(current)) await client.query(sql);
    const values = [SCHEMA_VERSION, OLDEST_VERSION].map(String);
    await client.query(
      `insert into errand.meta values ('version', $1), ('oldest', $2)
       on conflict (name) do update set value = greatest(meta.value::integer, excluded.value::integer)::text`,
      values,
    );
    if (current === 0) await client.query("insert into errand.meta values ('format', $1)", [String(JOURNAL_FORMAT)]);
    await client.query("commit");
  } catch (error) {
    await client.query("rollback");
    throw error;
  }
}
