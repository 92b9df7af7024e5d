/**
 * Ownership: one process at a time runs the trees of a store.
 *
 * Invariants:
 *  1. The owner holds an exclusive lock on `PATH-owner`, a second and empty SQLite file. The operating system drops the lock at
 *     any death of the process; nothing is left to be cleaned up, and nobody has to guess whether a process still lives.
 *  2. Each owner has a higher epoch than the one before. It stands in `meta` and is compared in every write of an owner, so that
 *     even one that lost its lock (because someone deleted the lock's file) writes nothing after another has come. It claims no tree
 *     either: what it finds open in one is the other's to do.
 *  3. Who owns the store stands in `meta` for people only; it decides nothing.
 */

import { existsSync } from "node:fs";
import { ErrandError } from "../../errors.ts";
import { numberOf } from "../cells.ts";
import { textCell, textOf } from "./cells.ts";
import type { Connection } from "./connection.ts";
import { canonicalPath, makePrivateFile, openConnection, unreadable } from "./open-database.ts";
import { messageOf, sqliteIsBusy } from "./sqlite-errors.ts";
import type { Prepare } from "./connection.ts";

/** How an owner is named to others. `startedAt` is in milliseconds since 1970. */
export interface Owner {
  readonly pid: number;
  readonly host: string;
  readonly command: string;
  readonly startedAt?: number;
}

export interface OwnerLock {
  release(): void;
}

/** How long the lock is waited for: whoever only looks whether it is held holds it for a moment, and is no owner. */
const LOOKING_MS = 100;

/** Takes the lock, or throws `store-owned`, naming who holds it. */
export function takeOwnerLock(path: string): OwnerLock {
  const lockPath = `${path}-owner`;
  makePrivateFile(lockPath);
  const lock = openConnection(lockPath, false);
  try {
    // Nothing is ever written to this file; a rollback journal in memory leaves none beside it.
    lock.exec(`pragma busy_timeout = ${LOOKING_MS}; pragma journal_mode = memory; begin exclusive`);
  } catch (error) {
    lock.close();
    if (sqliteIsBusy(error)) throw ownedBy(path);
    throw unreadable(path, messageOf(error), `Delete ${lockPath} if no process owns the store.`, error);
  }
  return { release: () => lock.close() };
}

/** Who owns the store at this moment, as the lock says it; null when nobody does. */
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
    throw unreadable(path, messageOf(error), `Delete ${lockPath} if no process owns the store.`, error);
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
 * Who wrote itself down as the owner last, if anybody did. An owner that is just making the store has not yet, and one that is just opening
 * or closing it may not let it be read: what is not known is not worth an error.
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

/** Writes down a new owner and returns its epoch. Runs in a transaction. */
export function enterOwner(db: Connection, owner: Owner | undefined): number {
  const raise = "insert into meta values ('epoch', 1) on conflict do update set value = value + 1 returning value";
  const epoch = numberOf(db.prepare(raise).get(), "value");
  db.exec("delete from meta where name = 'owner'");
  if (owner !== undefined) db.prepare("insert into meta values ('owner', ?)").run(textCell(ownerText(owner)));
  return epoch;
}

/** What keeps a process that is no longer the owner from writing. All of it belongs inside a transaction. */
export interface Fence {
  readonly epoch: number;
  /** Throws unless this owner is still the last one. */
  check(): void;
}

/** As SQL, true as long as the owner of the epoch is the last one. A statement that holds it needs no check of its own. */
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
