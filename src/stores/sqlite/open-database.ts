/**
 * Opening the database file: its place, its mode, what kind of file it is, and the settings that durability rests on.
 *
 * Invariants:
 *  1. A file that is not an Errand store, or is one of another version, is not changed: it is looked at through a read-only
 *     connection before anything is written. Only what a process left half written when it died is undone first.
 *  2. New files are made with mode 0600 whatever the umask; SQLite gives `-wal` and `-shm` the mode of the database.
 *  3. An existing file is never opened and closed by anything but SQLite: closing a second descriptor would drop the locks of
 *     this process on it (POSIX).
 *  4. Every setting is read back; one that was not taken is an error.
 */

import { closeSync, existsSync, fchmodSync, openSync, realpathSync, type Stats, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { ErrandError } from "../../errors.ts";
import { numberOf } from "../cells.ts";
import { makeFolder } from "../user-data.ts";
import { textOf } from "./cells.ts";
import type { Connection } from "./connection.ts";
import { type Identity, identityOf } from "./identity.ts";
import { APPLICATION_ID, SCHEMA_VERSION } from "./schema.ts";
import { folderIsReadOnly, openReadOnlyCopy } from "./read-only-disk.ts";
import { messageOf, sqliteCannotOpen, sqliteIsBusy, sqliteNeedsRollback, storeErrorOf } from "./sqlite-errors.ts";

/**
 * `full`: a commit that resolved survives the loss of power, unless it trails (`deferred-fsync.ts`). `relaxed`: it survives the death of the process, but a loss of power
 * may take the commits since the last checkpoint with it, the newest first and never one out of the middle. `none`: for
 * simulations; a loss of power may destroy the store.
 */
export type Durability = "full" | "relaxed" | "none";

const SYNCHRONOUS: Readonly<Record<Durability, number>> = { none: 0, relaxed: 1, full: 2 };

export function synchronous(durability: Durability): string {
  return `pragma synchronous = ${SYNCHRONOUS[durability]}`;
}

/** Whether a commit that makes the log long enough moves it into the database. */
export function checkpointing(on: boolean): string {
  return `pragma wal_autocheckpoint = ${on ? CHECKPOINT_PAGES : 0}`;
}

export const ACCESS_REMEDY = "Check the path, and that you may read and write the file and its folder.";
export const KIND_REMEDY = "Name the file of a store, or a path where there is no file yet.";

/**
 * Pages of write-ahead log, 16 MB, before they are moved into the database. A commit changes the same few pages again and again, and each
 * move waits for the disk twice: with SQLite's own 1,000 pages that came to one move for two dozen delegations.
 */
const CHECKPOINT_PAGES = 4_000;

/** The oldest SQLite that is trusted with data: earlier ones can lose a WAL that is reset while it is read. */
const OLDEST_SQLITE = [3, 51, 3] as const;

export function unreadable(path: string, why: string, remedy: string, cause?: unknown): ErrandError {
  return new ErrandError("store-unreadable", `The store ${path} cannot be opened: ${why}.`, {
    remedy,
    cause,
    details: { path },
  });
}

/** The error for a file that holds no store. Callers know it by `details.missing`. */
export function storeMissing(path: string, remedy: string): ErrandError {
  const { message } = unreadable(path, "there is no store yet", remedy);
  return new ErrandError("store-unreadable", message, { remedy, details: { path, missing: true } });
}

export function requireSqlite(version: string): void {
  const parts = version.split(".").map(Number);
  for (const [place, least] of OLDEST_SQLITE.entries()) {
    const part = parts[place] ?? 0;
    if (part > least) return;
    if (part < least) {
      throw new ErrandError(
        "sqlite-too-old",
        `This Node.js has SQLite ${version}; Errand needs ${OLDEST_SQLITE.join(".")}.`,
        {
          remedy: "Use a newer Node.js, such as the latest release of version 24.",
        },
      );
    }
  }
}

/** The one name of a store's file, so that a symbolic link to it is not taken for another store. */
export function canonicalPath(path: string): string {
  const absolute = resolve(path);
  try {
    return realpathSync(absolute);
  } catch {
    // The file is not there yet, or cannot be looked at, which opening it will tell.
    try {
      return join(realpathSync(dirname(absolute)), basename(absolute));
    } catch {
      return absolute;
    }
  }
}

/** Makes the file, empty and private, and the folder it stands in, unless they exist. */
export function makePrivateFile(path: string): void {
  if (existsSync(path)) return;
  try {
    makeFolder(dirname(path));
    const file = openSync(path, "wx", 0o600);
    fchmodSync(file, 0o600);
    closeSync(file);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return;
    throw unreadable(path, messageOf(error), ACCESS_REMEDY, error);
  }
}

/** How long a first look waits for another process that is just opening or closing the same file. */
const OPENING_MS = 5_000;

export function openConnection(path: string, readOnly: boolean, busyMs = OPENING_MS): DatabaseSync {
  try {
    return new DatabaseSync(path, { readOnly, timeout: busyMs });
  } catch (error) {
    throw unopened(error, path, ACCESS_REMEDY);
  }
}

/** A file that another program has locked is fine, and can be opened later. */
function unopened(error: unknown, path: string, remedy: string): unknown {
  return sqliteIsBusy(error)
    ? storeErrorOf(error, `The store ${path}`)
    : unreadable(path, messageOf(error), remedy, error);
}

function pragma(db: Connection, name: string): number {
  return numberOf(db.prepare(`pragma ${name}`).get(), name);
}

function holdsTables(db: Connection): boolean {
  return numberOf(db.prepare("select count(*) as tables from sqlite_schema").get(), "tables") > 0;
}

/** What the file at hand is. Throws when it is no store, or one that this version of Errand cannot read. */
export function schemaVersionOf(db: Connection, path: string): number {
  let application: number;
  let version: number;
  let empty: boolean;
  try {
    application = pragma(db, "application_id");
    version = pragma(db, "user_version");
    // Only asked where the header leaves it open: looking for tables reads the whole schema.
    empty = application === 0 && version === 0 && !holdsTables(db);
  } catch (error) {
    throw unopened(error, path, KIND_REMEDY);
  }
  if (empty) return 0;
  if (application !== APPLICATION_ID) {
    throw unreadable(path, "it is a database of another program", KIND_REMEDY);
  }
  requireKnownVersion(path, version);
  return version;
}

export function requireKnownVersion(path: string, version: number): void {
  if (version === SCHEMA_VERSION || version === 0) return;
  if (version < SCHEMA_VERSION) {
    const why = `its schema has version ${version}, and this Errand reads only version ${SCHEMA_VERSION}`;
    throw unreadable(path, why, "Use the version of Errand that wrote it, or move the file away to start a new store.");
  }
  throw new ErrandError(
    "store-too-new",
    `The store ${path} has schema version ${version}; this Errand reads version ${SCHEMA_VERSION}.`,
    { remedy: "Use the version of Errand that wrote it, or a newer one.", details: { path, version } },
  );
}

function sizeOf(path: string): number {
  let stats: Stats | undefined;
  try {
    stats = statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    throw unreadable(path, messageOf(error), ACCESS_REMEDY, error);
  }
  if (stats === undefined) return 0;
  if (!stats.isFile()) throw unreadable(path, "it is not a file", KIND_REMEDY);
  return stats.size;
}

/** A look at a file, for as long as it is not closed. */
export interface Look {
  /** The schema version; null where no store was begun yet. */
  readonly version: number | null;
  /** False where nothing can be written beside the file: then the store can only be read (`read-only-disk.ts`). */
  readonly writable: boolean;
  /** What the store says it is; null where it says nothing, or nothing that can be believed. */
  identity(): Identity | null;
  close(): void;
}

/**
 * Looks at the file without changing it. A process that died while it made the store has left a write half done, which a reader cannot
 * undo: a writer does, and the file is then as it was before that write. Whoever opens the store next closes the look after that: what
 * SQLite keeps beside the file for the first connection is then there for the second.
 */
export function lookAtFile(path: string, busyMs?: number): Look {
  if (sizeOf(path) === 0) return NOTHING;
  try {
    return lookThrough(openConnection(path, true, busyMs), path);
  } catch (error) {
    if (!(error instanceof ErrandError)) throw error;
    if (sqliteCannotOpen(error.cause) && folderIsReadOnly(path)) return lookThrough(openUnwritable(path), path, false);
    if (!sqliteNeedsRollback(error.cause)) throw error;
  }
  return lookThrough(openConnection(path, false, busyMs), path);
}

const NOTHING: Look = { version: null, writable: true, identity: () => null, close: () => {} };

/** A connection to a store on a disk that cannot be written. */
export function openUnwritable(path: string): DatabaseSync {
  try {
    return openReadOnlyCopy(path);
  } catch (error) {
    throw unreadable(path, messageOf(error), ACCESS_REMEDY, error);
  }
}

function readIdentity(db: DatabaseSync, path: string): Identity | null {
  try {
    return identityOf(db);
  } catch (error) {
    throw storeErrorOf(error, `The store ${path}`);
  }
}

function lookThrough(db: DatabaseSync, path: string, writable = true): Look {
  try {
    return {
      version: schemaVersionOf(db, path),
      writable,
      identity: () => readIdentity(db, path),
      close: () => db.close(),
    };
  } catch (error) {
    db.close();
    throw error;
  }
}

function journalMode(db: Connection): string {
  return textOf(db.prepare("pragma journal_mode").get(), "journal_mode");
}

function requireSetting(path: string, name: string, wanted: number | string, got: number | string): void {
  if (wanted === got) return;
  throw unreadable(
    path,
    `SQLite left ${name} at ${got} where ${wanted} was asked for`,
    "Put the store on a local disk.",
  );
}

/** How long SQLite waits for the lock of another connection, during which nothing else of this process goes on. */
export function setBusyTimeout(db: Connection, path: string, busyMs: number): void {
  db.exec(`pragma busy_timeout = ${busyMs}`);
  requireSetting(path, "busy_timeout", busyMs, numberOf(db.prepare("pragma busy_timeout").get(), "timeout"));
}

/** Settings that do not outlive a connection, and the journal mode, which the owner sets for all. */
export function configure(
  db: Connection,
  path: string,
  access: "own" | "read",
  durability: Durability,
  busyMs: number,
): void {
  setBusyTimeout(db, path, busyMs);
  // Asked for and read back in two statements: the first tells its new mode before the write that makes it so has succeeded.
  if (access === "own") db.exec("pragma journal_mode = wal");
  requireSetting(path, "journal_mode", "wal", journalMode(db));
  db.exec(synchronous(durability));
  requireSetting(path, "synchronous", SYNCHRONOUS[durability], pragma(db, "synchronous"));
  db.exec(checkpointing(true));
}
