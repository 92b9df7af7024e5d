/**
 * The store in one SQLite file: opens it, and composes the port from its parts.
 *
 * Invariants:
 *  1. `own` takes the owner's lock before it opens the database to write; `read` writes nothing but mail.
 *  2. Reads and commits are synchronous: they are done when the call returns to the event loop. Only while another
 *     program holds a lock on the file are they tried again between turns of the event loop, for a limited time.
 *  3. When opening fails, the lock and the connection are released.
 */

import type { Store } from "../../contracts/store.ts";
import type { World } from "../../contracts/world.ts";
import { errorText, ErrandError } from "../../errors.ts";
import { claimable } from "../formats.ts";
import { refusedWrites, storeClosed } from "../refusals.ts";
import { createRetry, type Retry, type RetryOptions } from "../retry.ts";
import { createOwnerWrites } from "./commit.ts";
import { type Connection, createPrepare, createTransaction } from "./connection.ts";
import { createDeferredFsync, type DeferredFsync, syncLog } from "./deferred-fsync.ts";
import * as file from "./open-database.ts";
import { enterOwner, type Owner, prepareFence, takeOwnerLock } from "./ownership.ts";
import { preparePutMail } from "./put-mail.ts";
import { createQueries, prepareDataVersion } from "./queries.ts";
import { createSchema, missingTable } from "./schema.ts";
import { sqliteIsBusy, storeErrorOf } from "./sqlite-errors.ts";
import { type Identity, movedTo, requireNotMoved, writeIdentity } from "./store-meta.ts";

export type { Durability } from "./open-database.ts";
export type { Owner } from "./ownership.ts";

export interface SqliteStoreOptions {
  readonly path: string;
  /** `own`: run the trees, which one process at a time may. `read`: read, and put mail. */
  readonly access: "own" | "read";
  /** Default: `full`. */
  readonly durability?: file.Durability;
  /** The name of this process for others that want to own the store. */
  readonly owner?: Owner;
  /** Timers for retries while another program holds a lock. Without them nothing is tried again. */
  readonly world?: World;
  /**
   * How long SQLite itself waits for a lock, in milliseconds; it blocks the event loop. Once open, and while opening.
   */
  readonly busyTimeout?: number;
  readonly openingBusyTimeout?: number;
  /** The disk cannot be written: settings for writing are not changed. */
  readonly unwritable?: true;
  /** Open it even if it was moved to another store. Only for the mover. */
  readonly evenMoved?: true;
  /**
   * Called for an owner once it has the lock and before it writes. Throws if this store may not run. Returns the
   * identity to write into the store, or null to leave it.
   */
  readonly admit?: () => Identity | null;
  /** Called for an owner once the file is closed, before the lock is released. */
  readonly onClosed?: () => void;
}

export interface SqliteStore extends Store {
  /** The name of the store that this one was moved to, or null. */
  movedTo(): string | null;
  /**
   * Records that the store was moved, so that no process works with it any more. Returns false, and records nothing,
   * if the number of waiting messages is not the given one.
   */
  leave(to: string, mail: number): Promise<boolean>;
}

/** Another process needs the lock for a few milliseconds. A longer wait would delay everything else in this process. */
const BUSY_TIMEOUT = 10;
const OPENING_BUSY_TIMEOUT = 5_000;

/** Opens the store, and creates it if `access` is `own` and there is none. Throws an ErrandError when it cannot. */
export function openSqliteStore(options: SqliteStoreOptions): SqliteStore {
  const path = file.canonicalPath(options.path);
  const inspection = file.inspectFile(path, options.openingBusyTimeout);
  try {
    return options.access === "own" ? openOwned(path, options) : openRead(path, options, inspection);
  } finally {
    inspection.close();
  }
}

function openOwned(path: string, options: SqliteStoreOptions): SqliteStore {
  const lock = takeOwnerLock(path);
  try {
    const identity = options.admit?.() ?? null;
    file.makePrivateFile(path);
    return openWith(
      file.openConnection(path, false, options.openingBusyTimeout),
      path,
      options,
      lock.release,
      identity,
    );
  } catch (error) {
    lock.release();
    throw error;
  }
}

function openRead(path: string, options: SqliteStoreOptions, { version, writable }: file.FileInspection): SqliteStore {
  if ((version ?? 0) === 0) {
    const remedy = "Start a process that owns the store once, such as `errand run`; it creates the store.";
    throw file.storeMissing(path, remedy);
  }
  if (writable) return openWith(file.openConnection(path, false, options.openingBusyTimeout), path, options);
  const store = openWith(file.openUnwritable(path), path, { ...options, unwritable: true });
  const putMail = async (): Promise<never> => {
    throw new ErrandError("store-read-only", `The store ${path} is on a disk, or in a folder, that is read-only.`, {
      remedy: "Make it writable, or copy the store elsewhere and name the copy: --store PATH.",
      details: { path },
    });
  };
  // No process can have written a log that is not on disk yet.
  return { ...store, putMail, flush: async () => {} };
}

function openWith(
  db: Connection,
  path: string,
  options: SqliteStoreOptions,
  releaseLock?: () => void,
  identity?: Identity | null,
): SqliteStore {
  try {
    return createStore(db, path, options, releaseLock, identity);
  } catch (error) {
    db.close();
    if (error instanceof ErrandError) throw error;
    if (sqliteIsBusy(error)) throw storeErrorOf(error, `The SQLite store ${path}`);
    throw file.unreadable(path, errorText(error), file.ACCESS_REMEDY, error);
  }
}

/** The store on an open connection. Closing the store closes the connection, and then calls `releaseLock`. */
export function createStore(
  db: Connection,
  path: string,
  options: SqliteStoreOptions,
  releaseLock = (): void => {},
  identity: Identity | null = null,
): SqliteStore {
  const { access, durability = "full", world, openingBusyTimeout = OPENING_BUSY_TIMEOUT } = options;
  const { busyTimeout = world === undefined ? OPENING_BUSY_TIMEOUT : BUSY_TIMEOUT } = options;
  const description = `The SQLite store ${path}`;
  file.requireSqlite(process.versions["sqlite"] ?? "");
  file.schemaVersionOf(db, path);
  if (options.unwritable !== true) file.configure(db, path, access, durability, openingBusyTimeout);
  const prepare = createPrepare(db);
  const retry = world === undefined ? WITHOUT_RETRY : createRetry(world, retryOptions(access));
  const plainTransaction = createTransaction(db, description);
  const writeOwnIdentity = (): void => (identity === null ? undefined : writeIdentity(db, identity));
  // In one transaction, so that no reader finds a new store without its identity.
  if (access === "own") createSchema(db, plainTransaction, writeOwnIdentity);
  requireTables(db, path);
  if (options.evenMoved !== true) requireNotMoved(db, path);

  let deferredFsync: DeferredFsync | null = null;
  let transaction: DeferredFsync["transaction"] = plainTransaction;
  const queries = createQueries(prepare, read);
  const writes = access === "own" ? becomeOwner() : { ...refusedWrites(refuseWrite), leave: refuseWrite };
  const putMail = preparePutMail(prepare, transaction, () => requireNotMoved(db, path));
  const dataVersion = prepareDataVersion(prepare);
  let seen = dataVersion();
  file.setBusyTimeout(db, path, busyTimeout);

  function becomeOwner() {
    const epoch = plainTransaction(() => {
      writeOwnIdentity();
      return enterOwner(db, options.owner);
    });
    // Other durabilities wait for no fsync that could be deferred.
    if (durability === "full") {
      deferredFsync = createDeferredFsync(db, path, plainTransaction);
      ({ transaction } = deferredFsync);
    }
    const fence = prepareFence(prepare, epoch);
    const claim: Store["claim"] = async (ids) => {
      await read(fence.check);
      const trees = await Promise.all(ids.map(queries.tree));
      const claimed = trees.filter((tree) => tree !== null).filter(claimable);
      return claimed.map((tree) => ({ ...tree, epoch: Math.max(epoch, tree.epoch) }));
    };
    return { ...createOwnerWrites(prepare, transaction, fence, write), claim };
  }
  function requireOpen(): void {
    if (!db.isOpen) throw storeClosed(description);
  }
  function readNow<Result>(work: () => Result): Result {
    requireOpen();
    try {
      return work();
    } catch (error) {
      throw storeErrorOf(error, description);
    }
  }
  function read<Result>(work: () => Result): Promise<Result> {
    return retry.run("read", () => readNow(work));
  }
  function write<Result>(work: () => Result): Promise<Result> {
    return retry.run("write", () => {
      requireOpen();
      return work();
    });
  }
  async function refuseWrite(): Promise<never> {
    requireOpen();
    throw new ErrandError(
      "store-read-only",
      `${description} was opened to read and to put mail; only its owner writes.`,
      {
        remedy: "Send the owner mail, or open the store as its owner.",
      },
    );
  }

  return {
    description,
    onDelay: retry.onDelay,
    ...queries,
    ...writes,
    movedTo: () => readNow(() => movedTo(db)),
    async flush() {
      // A reader cannot know how much the owner has flushed.
      if (access === "read") await syncLog(path);
      else if (db.isOpen) await deferredFsync?.flush();
    },
    putMail: (mail) => write(() => putMail(mail)),
    async changed() {
      const now = await read(dataVersion);
      const differs = now !== seen;
      seen = now;
      return differs;
    },
    async close() {
      if (!db.isOpen) return;
      retry.close();
      try {
        // While another process reads, SQLite leaves the log in place; the last connection to close removes it.
        deferredFsync?.waitForDisk();
        if (access === "own") readNow(() => db.exec("pragma wal_checkpoint(truncate)"));
      } finally {
        db.close();
        try {
          options.onClosed?.();
        } finally {
          releaseLock();
          await deferredFsync?.close();
        }
      }
    },
  };
}

const WITHOUT_RETRY: Retry = { run: async (_, work) => work(), onDelay: () => undefined, close: () => undefined };

function retryOptions(access: "own" | "read"): RetryOptions {
  return {
    firstPauseMs: 10,
    longestPauseMs: 250,
    timeoutMs: access === "own" ? 15_000 : 10_000,
    oneAtATime: true,
    judge: (error) => ({ error, temporary: error instanceof ErrandError && error.code === "store-busy" }),
  };
}

/**
 * Checks every table at the start. Statements are prepared at their first use, and would fail in the middle of the
 * work.
 */
function requireTables(db: Connection, path: string): void {
  const missing = missingTable(db);
  if (missing === null) return;
  const remedy = "Restore the store from a backup; something other than Errand changed it.";
  throw file.unreadable(path, `its table ${missing} is missing`, remedy);
}
