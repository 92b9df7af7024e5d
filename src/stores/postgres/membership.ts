/**
 * Membership: how the other processes know a process that runs trees, and who may take a tree.
 *
 * Invariants:
 *  1. A worker has an advisory lock under its number in a session of its own, which the server drops with the session.
 *     It writes the database's time every second.
 *  2. A worker is dead if its lock is free and its last time is older than `SILENT_MS`, or if that time is older than
 *     the lease, or if it has left. Only trees of a dead worker, or of no worker, are taken.
 *  3. A worker declares no other dead for one lease after its own connection was lost, because all may have been cut
 *     off. Nor while its own time is older than `SILENT_MS`, and for as long after that, because the table of workers
 *     may be locked for all.
 *  4. A worker whose duties are late by a lease writes no time. It is alive but does nothing for its trees, so others
 *     are to take them.
 */

import type { Client } from "pg";
import type { World } from "../../contracts/world.ts";
import { createDuty } from "../../periodic-duty.ts";
import { type Address, connectSession, endOpening } from "./connection.ts";
import { type Ask, askOf } from "./database.ts";
import { connectionLost } from "./postgres-errors.ts";
import { LOCK_CLASS } from "./schema.ts";

export const LEASE_MS = 10_000;
const SILENT_MS = 3_000;
const BEAT_MS = 1_000;
const RECONNECT_MS = 200;
/** Longer than the timeouts of connecting and of a statement together. */
const BEAT_WITHIN_MS = 60_000;

/** A condition in SQL: the worker of this number is not known to be dead. The statement must not use the name `w`. */
export function workerLives(worker: string): string {
  return `exists (
    select 1 from errand.workers w where w.id = ${worker}
    and w.seen_at > clock_timestamp() - interval '${LEASE_MS} milliseconds'
    and (w.seen_at > clock_timestamp() - interval '${SILENT_MS} milliseconds' or exists (
      select 1 from pg_locks l
      where l.locktype = 'advisory' and l.granted and l.classid = ${LOCK_CLASS} and l.objid = w.id
      and l.database = (select oid from pg_database where datname = current_database())
    ))
  )`;
}

/** In a statement where `t` is a tree with an owner. */
export const OWNER_LIVES = workerLives("t.owner");

const NOW = "extract(epoch from clock_timestamp())::double precision * 1000";
const JOIN = `insert into errand.workers (name) values ($1) returning id, ${NOW} as now`;
/** Inserts the row again if others took this worker for dead and deleted it. */
const BEAT = `
  insert into errand.workers (id, name, pool) overriding system value values ($1, $2, $3)
  on conflict (id) do update set seen_at = clock_timestamp() returning ${NOW} as now`;
/** For a worker whose duties are late: it still needs the time. */
const READ_CLOCK = `select ${NOW} as now`;

const RELEASE_TREES = "update errand.trees set owner = null where owner = $1 returning id";

export interface Membership {
  readonly worker: number;
  /** The database's time, in milliseconds. */
  now(): number;
  /** False if this worker was cut off within the last lease, or has not written its time lately. */
  steady(): boolean;
  /** Sets how to ask, before each beat, how late the duties of this worker are, in milliseconds. */
  dutiesLate(late: () => number): void;
  /** True while others cannot have taken this worker for dead. */
  known(): boolean;
  /** Called after a lost connection, and after a silence of a lease or more: others may have taken trees. */
  onReturn(listener: () => void): void;
  /** Sets the name under which the dispatcher locks jobs. Others need it when this worker is dead. */
  setPool(pool: string): void;
  pool(): string | null;
  /** Releases all trees, calls `onReleased` with them while this worker is still known, and leaves. */
  close(onReleased: (ask: Ask, trees: readonly string[]) => Promise<void>): Promise<void>;
}

export async function joinWorkers(session: Client, address: Address, world: World, name: string): Promise<Membership> {
  let client = session;
  let closed = false;
  let steadySince = Number.NEGATIVE_INFINITY;
  let seenAt = 0;
  let pool: string | null = null;
  let cutOff = false;
  let dutiesLate: () => number = () => 0;
  const listeners: (() => void)[] = [];
  /** The database's time minus this machine's monotonic time. */
  let ahead = 0;

  /** The server answered between the two readings of the clock. For the lease the earlier one counts. */
  function recordTime(asked: number, now: number): void {
    seenAt = asked;
    ahead = now - (asked + world.monotonic()) / 2;
  }

  const asked = world.monotonic();
  const { rows } = await client.query<{ id: number; now: number }>(JOIN, [name]);
  const [joined] = rows;
  if (joined === undefined) throw new TypeError("the server gave no number to this worker");
  const worker = joined.id;
  recordTime(asked, joined.now);
  await lock();
  await endOpening(client);
  const duty = createDuty({
    time: world,
    work: beat,
    tryWithinMs: BEAT_WITHIN_MS,
    // Others notice a silent worker, and the store reports what delays it.
    passes: () => true,
    onFailing: () => undefined,
    onRecovered: () => undefined,
  });
  duty.later(BEAT_MS);

  async function lock(): Promise<void> {
    await client.query("select pg_try_advisory_lock($1, $2)", [LOCK_CLASS, worker]);
  }

  /** Resolves with the milliseconds until the next beat. */
  async function beat(): Promise<number> {
    const asked = world.monotonic();
    const late = dutiesLate() >= LEASE_MS;
    try {
      const question = late ? client.query<{ now: number }>(READ_CLOCK) : writeTime();
      const { rows } = await question;
      const silent = asked - seenAt;
      const now = rows[0]?.now ?? 0;
      if (late) {
        ahead = now - (asked + world.monotonic()) / 2;
        return BEAT_MS;
      }
      const returned = cutOff || silent >= LEASE_MS;
      cutOff = false;
      recordTime(asked, now);
      if (silent >= SILENT_MS) steadySince = Math.max(steadySince, world.monotonic() + SILENT_MS);
      if (returned) for (const listener of listeners) listener();
      return BEAT_MS;
    } catch (error) {
      // The table is locked, or the server is too slow. The session still exists, and its advisory lock too.
      if (!connectionLost(error)) throw error;
      cutOff = true;
      return reconnect();
    }
  }

  function writeTime(): Promise<{ readonly rows: readonly { readonly now: number }[] }> {
    return client.query<{ now: number }>(BEAT, [worker, name, pool]);
  }

  async function reconnect(): Promise<number> {
    void client.end().catch(() => undefined);
    try {
      const fresh = await connectSession(address);
      if (closed) {
        await fresh.end();
        return BEAT_MS;
      }
      client = fresh;
      steadySince = world.monotonic() + LEASE_MS;
      await lock();
      return 0;
    } catch {
      return RECONNECT_MS;
    }
  }

  return {
    worker,
    now: () => Math.floor(world.monotonic() + ahead),
    steady: () => world.monotonic() >= steadySince && world.monotonic() - seenAt < SILENT_MS,
    dutiesLate: (late) => void (dutiesLate = late),
    known: () => world.monotonic() - seenAt < LEASE_MS,
    onReturn: (listener) => void listeners.push(listener),
    setPool: (name) => void (pool = name),
    pool: () => pool,
    async close(onReleased) {
      if (closed) return;
      closed = true;
      void duty.stop();
      try {
        const { rows } = await client.query<{ id: string }>(RELEASE_TREES, [worker]);
        await onReleased(
          askOf(client),
          rows.map(({ id }) => id),
        );
        await client.query("delete from errand.workers where id = $1", [worker]);
      } catch {
        // The server is gone: the others see this worker as dead when its lease expires.
      }
      await client.end().catch(() => undefined);
    },
  };
}
