/**
 * Ownership: one process at a time runs the trees of a store.
 *
 * Invariants:
 *  1. The owner holds an exclusive lock on `PATH-owner`, a second, empty SQLite file. The operating system releases the
 *     lock at any death of the process. So nothing needs cleaning up, and no process guesses whether another is alive.
 *  2. Each owner has a higher epoch than the one before. It is in `meta`, and every write of an owner compares it. So a
 *     process that lost its lock, because the lock's file was deleted, writes nothing once there is another owner.
 *     It claims no tree either: unfinished work is then the other owner's.
 *  3. The name of the owner is in `meta` for people only; it decides nothing.
 */

import { existsSync } from "node:fs";
import { errorText, ErrandError } from "../../errors.ts";
import { numberOf } from "../cells.ts";
import { textCell, textOf } from "./cells.ts";
import type { Connection } from "./connection.ts";
import { canonicalPath, makePrivateFile, openConnection, unreadable } from "./open-database.ts";
import { sqliteIsBusy } from "./sqlite-errors.ts";
import type { Prepare } from "./connection.ts";

/** The name of an owner for others. `startedAt` is in milliseconds since 1970. */
export interface Owner {
  readonly pid: number;
  readonly host: string;
  readonly command: string;
  readonly startedAt?: number;
}

export interface OwnerLock {
  release(): void;
}

/** How long to wait for the lock: a process that only asks who the owner is holds it for a moment. */
const LOCK_WAIT_MS = 100;

/** Takes the lock, or throws `store-owned` with the name of its holder. */
export function takeOwnerLock(path: string): OwnerLock {
  const lockPath = `${path}-owner`;
  makePrivateFile(lockPath);
  const lock = openConnection(lockPath, false);
  try {
    // Nothing is written to this file; a rollback journal in memory creates no other file.
    lock.exec(`pragma busy_timeout = ${LOCK_WAIT_MS}; pragma journal_mode = memory; begin exclusive`);
  } catch (error) {
    lock.close();
    if (sqliteIsBusy(error)) throw ownedBy(path);
    throw unreadable(path, errorText(error), `Delete ${lockPath} if no process owns the store.`, error);
  }
  return { release: () => lock.close() };
}

/** The owner of the store now, according to the lock; null if there is none. */
export function ownerOf(givenPath: string): string | null {
  const path = canonicalPath(givenPath);
  const lockPath = `${path}-owner`;
  if (!existsSync(lockPath)) return null;
  const lock = openConnection(lockPath, true);
  try {
    lock.exec("pragma busy_timeout = 0; pragma schema_version");
    return null;
  } catch (error) {
    if (sqliteIsBusy(error)) return readOwner(path) ?? "another process";
    throw unreadable(path, errorText(error), `Delete ${lockPath} if no process owns the store.`, error);
  } finally {
    lock.close();
  }
}

function ownedBy(path: string): ErrandError {
  const owner = readOwner(path) ?? "another process";
  return new ErrandError("store-owned", `The store ${path} is owned by ${owner}.`, {
    remedy: "Stop that process, or open the store to read and put mail.",
    details: { path, owner },
  });
}

function ownerText({ pid, host, command, startedAt }: Owner): string {
  const since = startedAt === undefined ? "" : ` since ${new Date(startedAt).toISOString()}`;
  return `pid ${pid} on ${host} (${command})${since}`;
}

/**
 * The name that the last owner recorded, or null. An owner that is creating the store has not recorded its name yet,
 * and one that is opening or closing it may lock the file. That is no error.
 */
function readOwner(path: string): string | null {
  try {
    const db = openConnection(path, true);
    try {
      const row = db.prepare("select value from meta where name = 'owner'").get();
      return row === undefined ? null : textOf(row, "value");
    } finally {
      db.close();
    }
  } catch {
    return null;
  }
}

/** Records a new owner and returns its epoch. Runs in a transaction. */
export function enterOwner(db: Connection, owner: Owner | undefined): number {
  const raise = "insert into meta values ('epoch', 1) on conflict do update set value = value + 1 returning value";
  const epoch = numberOf(db.prepare(raise).get(), "value");
  db.exec("delete from meta where name = 'owner'");
  if (owner !== undefined) db.prepare("insert into meta values ('owner', ?)").run(textCell(ownerText(owner)));
  return epoch;
}

/** Keeps a process that is no longer the owner from writing. Used inside a transaction. */
export interface Fence {
  readonly epoch: number;
  /** Throws if another process has become the owner. */
  check(): void;
}

/** A condition in SQL: the owner of the epoch is the last one. A statement with this condition needs no `check`. */
export const STILL_OWNER = "exists (select 1 from meta where name = 'epoch' and value = ?)";

export function prepareFence(prepare: Prepare, epoch: number): Fence {
  const still = prepare(`select 1 where ${STILL_OWNER}`);
  return {
    epoch,
    check() {
      if (still().get(epoch) === undefined) throw noLongerOwner(epoch);
    },
  };
}

export function noLongerOwner(epoch: number): ErrandError {
  return new ErrandError("store-owned", "Another process has become the owner of this store.", {
    remedy: "Stop this process; its lock file was deleted while it ran.",
    details: { epoch },
  });
}
