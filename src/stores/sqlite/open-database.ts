/**
 * Opening the database file: its path, its mode, what kind of file it is, and the settings that durability needs.
 *
 * Invariants:
 *  1. A file that is not an Errand store, or has another schema version, is not changed: a read-only connection
 *     inspects it before anything is written. Only a write that a process left unfinished when it died is rolled back
 *     first.
 *  2. New files have mode 0600 whatever the umask; SQLite gives `-wal` and `-shm` the mode of the database.
 *  3. Only SQLite opens and closes an existing file: closing a second descriptor would drop this process's locks on it
 *     (POSIX).
 *  4. Every setting is read back; one that SQLite did not take is an error.
 */

import { closeSync, existsSync, fchmodSync, openSync, realpathSync, type Stats, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { errorCode, errorText, ErrandError } from "../../errors.ts";
import { numberOf } from "../cells.ts";
import { makeFolder } from "../user-data.ts";
import { textOf } from "./cells.ts";
import type { Connection } from "./connection.ts";
import { folderIsReadOnly, openReadOnlyCopy } from "./read-only-disk.ts";
import { APPLICATION_ID, SCHEMA_VERSION } from "./schema.ts";
import { sqliteCannotOpen, sqliteIsBusy, sqliteNeedsRollback, storeErrorOf } from "./sqlite-errors.ts";
import { type Identity, identityOf } from "./store-meta.ts";

/**
 * `full`: a commit that resolved survives the loss of power, unless its fsync is deferred (`deferred-fsync.ts`).
 * `relaxed`: it survives the death of the process, but a loss of power may take back the newest commits since the last
 * checkpoint. `none`: for simulations; a loss of power may destroy the store.
 */
export type Durability = "full" | "relaxed" | "none";

const SYNCHRONOUS: Readonly<Record<Durability, number>> = { none: 0, relaxed: 1, full: 2 };

export function synchronous(durability: Durability): string {
  return `pragma synchronous = ${SYNCHRONOUS[durability]}`;
}

/**
 * Pages of write-ahead log, 16 MB, before a checkpoint. A commit changes the same few pages again and again, and each
 * checkpoint waits for the disk twice: with SQLite's default of 1,000 pages there was one for two dozen delegations.
 */
const CHECKPOINT_PAGES = 4_000;

/** Whether a commit that makes the log long enough moves it into the database. */
export function checkpointing(on: boolean): string {
  return `pragma wal_autocheckpoint = ${on ? CHECKPOINT_PAGES : 0}`;
}

export const ACCESS_REMEDY = "Check the path, and that you may read and write the file and its folder.";
export const KIND_REMEDY = "Name the file of a store, or a path where there is no file yet.";

/** Earlier versions can lose a WAL that is reset while it is read. */
const OLDEST_SQLITE = [3, 51, 3] as const;

export function unreadable(path: string, why: string, remedy: string, cause?: unknown): ErrandError {
  return new ErrandError("store-unreadable", `The store ${path} cannot be opened: ${why}.`, {
    remedy,
    cause,
    details: { path },
  });
}

/** The error for a file without a store. Callers recognise it by `details.missing`. */
export function storeMissing(path: string, remedy: string): ErrandError {
  const { message } = unreadable(path, "there is no store yet", remedy);
  return new ErrandError("store-unreadable", message, { remedy, details: { path, missing: true } });
}

export function requireSqlite(version: string): void {
  const parts = version.split(".").map(Number);
  for (const [index, least] of OLDEST_SQLITE.entries()) {
    const part = parts[index] ?? 0;
    if (part > least) return;
    if (part < least) {
      const message = `This Node.js has SQLite ${version}; Errand needs ${OLDEST_SQLITE.join(".")}.`;
      const remedy = "Use a newer Node.js, such as the latest release of version 24.";
      throw new ErrandError("sqlite-too-old", message, { remedy });
    }
  }
}

/** The real path of a store's file, so that a symbolic link to it is not taken for another store. */
export function canonicalPath(path: string): string {
  const absolute = resolve(path);
  try {
    return realpathSync(absolute);
  } catch {
    // The file does not exist yet, or cannot be read; then opening it fails.
    try {
      return join(realpathSync(dirname(absolute)), basename(absolute));
    } catch {
      return absolute;
    }
  }
}

/** Creates the file, empty and private, and its folder, unless they exist. */
export function makePrivateFile(path: string): void {
  if (existsSync(path)) return;
  try {
    makeFolder(dirname(path));
    const file = openSync(path, "wx", 0o600);
    fchmodSync(file, 0o600);
    closeSync(file);
  } catch (error) {
    if (errorCode(error) === "EEXIST") return;
    throw unreadable(path, errorText(error), ACCESS_REMEDY, error);
  }
}

/** How long opening waits for another process that is opening or closing the same file. */
const OPENING_MS = 5_000;

export function openConnection(path: string, readOnly: boolean, busyMs = OPENING_MS): DatabaseSync {
  try {
    return new DatabaseSync(path, { readOnly, timeout: busyMs });
  } catch (error) {
    throw openErrorOf(error, path, ACCESS_REMEDY);
  }
}

/** A file that another program has locked can be opened later. */
function openErrorOf(error: unknown, path: string, remedy: string): unknown {
  return sqliteIsBusy(error)
    ? storeErrorOf(error, `The store ${path}`)
    : unreadable(path, errorText(error), remedy, error);
}

function pragma(db: Connection, name: string): number {
  return numberOf(db.prepare(`pragma ${name}`).get(), name);
}

function holdsTables(db: Connection): boolean {
  return numberOf(db.prepare("select count(*) as tables from sqlite_schema").get(), "tables") > 0;
}

/** The schema version of the open file, 0 if it is empty. Throws unless it is a store that this version can read. */
export function schemaVersionOf(db: Connection, path: string): number {
  let application: number;
  let version: number;
  let empty: boolean;
  try {
    application = pragma(db, "application_id");
    version = pragma(db, "user_version");
    // Last, because looking for tables reads the whole schema.
    empty = application === 0 && version === 0 && !holdsTables(db);
  } catch (error) {
    throw openErrorOf(error, path, KIND_REMEDY);
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
    throw unreadable(path, errorText(error), ACCESS_REMEDY, error);
  }
  if (stats === undefined) return 0;
  if (!stats.isFile()) throw unreadable(path, "it is not a file", KIND_REMEDY);
  return stats.size;
}

/** What was found about a file. Holds a connection until it is closed. */
export interface FileInspection {
  /** The schema version; null where no store was begun yet. */
  readonly version: number | null;
  /** False where nothing can be written beside the file: then the store can only be read (`read-only-disk.ts`). */
  readonly writable: boolean;
  /** The identity that the store claims; null where it has none, or none that can be valid. */
  identity(): Identity | null;
  close(): void;
}

/**
 * Inspects the file without changing it. If a process died in the middle of a write, a reader cannot roll that back, so
 * a writer does. Close the inspection after the store was opened: the files that SQLite made beside the database for
 * the first connection then serve the second.
 */
export function inspectFile(path: string, busyMs?: number): FileInspection {
  if (sizeOf(path) === 0) return { version: null, writable: true, identity: () => null, close: () => {} };
  try {
    return inspect(openConnection(path, true, busyMs), path);
  } catch (error) {
    if (!(error instanceof ErrandError)) throw error;
    if (sqliteCannotOpen(error.cause) && folderIsReadOnly(path)) return inspect(openUnwritable(path), path, false);
    if (!sqliteNeedsRollback(error.cause)) throw error;
  }
  return inspect(openConnection(path, false, busyMs), path);
}

function inspect(db: DatabaseSync, path: string, writable = true): FileInspection {
  try {
    const version = schemaVersionOf(db, path);
    return { version, writable, identity: () => readIdentity(db, path), close: () => db.close() };
  } catch (error) {
    db.close();
    throw error;
  }
}

function readIdentity(db: DatabaseSync, path: string): Identity | null {
  try {
    return identityOf(db);
  } catch (error) {
    throw storeErrorOf(error, `The store ${path}`);
  }
}

/** A connection to a store on a disk that cannot be written. */
export function openUnwritable(path: string): DatabaseSync {
  try {
    return openReadOnlyCopy(path);
  } catch (error) {
    throw unreadable(path, errorText(error), ACCESS_REMEDY, error);
  }
}

function requireSetting(path: string, name: string, wanted: number | string, got: number | string): void {
  if (wanted === got) return;
  throw unreadable(
    path,
    `SQLite left ${name} at ${got} where ${wanted} was asked for`,
    "Put the store on a local disk.",
  );
}

/** How long SQLite waits for the lock of another connection. It blocks the event loop. */
export function setBusyTimeout(db: Connection, path: string, busyMs: number): void {
  db.exec(`pragma busy_timeout = ${busyMs}`);
  requireSetting(path, "busy_timeout", busyMs, numberOf(db.prepare("pragma busy_timeout").get(), "timeout"));
}

/** Settings of the connection, and the journal mode of the file, which the owner sets. */
export function configure(
  db: Connection,
  path: string,
  access: "own" | "read",
  durability: Durability,
  busyMs: number,
): void {
  setBusyTimeout(db, path, busyMs);
  // Read back by a second statement: the first reports the new mode before it is written.
  if (access === "own") db.exec("pragma journal_mode = wal");
  requireSetting(path, "journal_mode", "wal", textOf(db.prepare("pragma journal_mode").get(), "journal_mode"));
  db.exec(synchronous(durability));
  requireSetting(path, "synchronous", SYNCHRONOUS[durability], pragma(db, "synchronous"));
  db.exec(checkpointing(true));
}
