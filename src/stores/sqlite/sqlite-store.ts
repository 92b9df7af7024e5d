/**
 * The store in one SQLite file: opens it, and composes the port from its parts.
 *
 * Invariants:
 *  1. `own` takes the owner's lock before it opens the database to write; `read` writes nothing but mail.
 *  2. Everything is synchronous inside the port's promises: a commit is done when its call returns to the event loop, unless another program
 *     holds a lock on the file. Then it is tried again between turns of the event loop, for a bounded time (`patience.ts`).
 *  3. When opening fails, the lock and the connection are released.
 */

import type { Store } from "../../contracts/store.ts";
import type { World } from "../../contracts/world.ts";
import { ErrandError } from "../../errors.ts";
import { claimable } from "../formats.ts";
import { storeClosed } from "../refusals.ts";
import { type OwnerWrites, prepareOwnerWrites } from "./commit.ts";
import { type Connection, createPrepare, createTransaction } from "./connection.ts";
import * as file from "./open-database.ts";
import { type Identity, writeIdentity } from "./identity.ts";
import { enterOwner, type Owner, prepareFence, takeOwnerLock } from "./ownership.ts";
import { movedTo, requireNotMoved } from "./moved.ts";
import { preparePutMail } from "./put-mail.ts";
import { createQueries, prepareDataVersion } from "./queries.ts";
import { createSchema, missingTable } from "./schema.ts";
import { messageOf, sqliteIsBusy, storeErrorOf } from "./sqlite-errors.ts";
import { waitingOf } from "./patience.ts";
import { createDeferredFsync, syncLog, type DeferredFsync } from "./deferred-fsync.ts";

export type { Durability } from "./open-database.ts";
export type { Owner } from "./ownership.ts";

export interface SqliteStoreOptions {
  readonly path: string;
  /** `own`: run the trees; one process at a time may. `read`: look, and put mail. */
  readonly access: "own" | "read";
  /** `full` unless told otherwise. */
  readonly durability?: file.Durability;
  /** How this process is named to one that wants to own the store too. */
  readonly owner?: Owner;
  /** Timers to wait with while another program holds a lock. Without them nothing is tried again. */
  readonly world?: World;
  /** How long SQLite itself waits for such a lock, in milliseconds, during which nothing else of this process goes on: once open, and while opening. */
  readonly busyTimeout?: number;
  readonly openingBusyTimeout?: number;
  /** The disk cannot be written: settings that concern writing are left as they are. */
  readonly unwritable?: true;
  /** Open it even if it was moved to another store: only for who moves it. */
  readonly evenMoved?: true;
  /**
   * Called by who becomes the owner, once it has the lock and before it writes: throws if this store may not be run;
   * returns what the store is to say it
   * is from now on, or null for what it says already.
   */
  readonly admit?: () => Identity | null;
  /** Called by the owner once the file is closed, before it gives up the lock. */
  readonly onClosed?: () => void;
}

export interface SqliteStore extends Store {
  /** The name of the store that this one was moved to, or null. */
  movedTo(): string | null;
  /** Writes down that it was moved, unless another number of messages waits than the mover knows of. From then on nobody works with it. */
  leave(to: string, mail: number): Promise<boolean>;
}

/** A put of mail or a commit of another process holds the lock for some milliseconds. More would be felt by all that this process does. */
const BUSY_TIMEOUT = 10;
const OPENING_BUSY_TIMEOUT = 5_000;

/** Opens the store, and makes it if `access` is `own` and there is none. Throws an ErrandError when it cannot. */
export function openSqliteStore(options: SqliteStoreOptions): SqliteStore {
  const path = file.canonicalPath(options.path);
  const look = file.lookAtFile(path, options.openingBusyTimeout);
  try {
    return openLooked(path, options, look);
  } finally {
    look.close();
  }
}

function openLooked(path: string, options: SqliteStoreOptions, { version, writable }: file.Look): SqliteStore {
  if (options.access === "read") {
    if ((version ?? 0) === 0) {
      const remedy = "Start a process that owns the store once, such as `errand run`; it creates the store.";
      throw file.storeMissing(path, remedy);
    }
    return writable ? openWith(path, options, () => {}, null) : openUnwritable(path, options);
  }
  const lock = takeOwnerLock(path);
  try {
    return openWith(path, options, lock.release, options.admit?.() ?? null);
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** To look at: it takes no mail, and has no log that could still be on its way to the disk. */
function openUnwritable(path: string, options: SqliteStoreOptions): SqliteStore {
  const db = file.openUnwritable(path);
  try {
    const store = createStore(db, path, { ...options, unwritable: true }, () => {});
    const putMail = async (): Promise<never> => {
      throw new ErrandError(
        "store-read-only",
        `The store ${path} stands on a disk, or in a folder, that is read-only.`,
        {
          remedy: "Make it writable, or copy the store elsewhere and name the copy: --store PATH.",
          details: { path },
        },
      );
    };
    return { ...store, putMail, flush: async () => {} };
  } catch (error) {
    db.close();
    throw error instanceof ErrandError ? error : file.unreadable(path, messageOf(error), file.ACCESS_REMEDY, error);
  }
}

/** Statements are prepared when they are needed: what was taken out of the file would be found halfway through the work. */
function requireTables(db: Connection, path: string): void {
  const missing = missingTable(db);
  if (missing === null) return;
  throw file.unreadable(
    path,
    `its table ${missing} is missing`,
    "Restore the store from a backup; it was changed by something other than Errand.",
  );
}

function openWith(
  path: string,
  options: SqliteStoreOptions,
  releaseLock: () => void,
  identity: Identity | null,
): SqliteStore {
  if (options.access === "own") file.makePrivateFile(path);
  const db = file.openConnection(path, false, options.openingBusyTimeout);
  try {
    return createStore(db, path, options, releaseLock, identity);
  } catch (error) {
    db.close();
    if (error instanceof ErrandError) throw error;
    if (sqliteIsBusy(error)) throw storeErrorOf(error, `The SQLite store ${path}`);
    throw file.unreadable(path, messageOf(error), file.ACCESS_REMEDY, error);
  }
}

/** The store on a connection that is open already; it closes it, and then releases the lock. */
export function createStore(
  db: Connection,
  path: string,
  options: SqliteStoreOptions,
  releaseLock: () => void,
  identity: Identity | null = null,
): SqliteStore {
  const { access, durability = "full", owner, world, openingBusyTimeout = OPENING_BUSY_TIMEOUT } = options;
  const { busyTimeout = world === undefined ? OPENING_BUSY_TIMEOUT : BUSY_TIMEOUT } = options;
  const description = `The SQLite store ${path}`;
  file.requireSqlite(process.versions["sqlite"] ?? "");
  file.schemaVersionOf(db, path);
  if (options.unwritable !== true) file.configure(db, path, access, durability, openingBusyTimeout);
  const prepare = createPrepare(db);
  const transaction = createTransaction(db, description);
  let epoch = 0;
  let writes: OwnerWrites | null = null;
  let deferred: DeferredFsync | null = null;
  const identify = (): void => (identity === null ? undefined : writeIdentity(db, identity));
  // A new store is never seen without its identity.
  if (access === "own") createSchema(db, transaction, identify);
  requireTables(db, path);
  if (options.evenMoved !== true) requireNotMoved(db, path);
  if (access === "own") {
    epoch = transaction(() => {
      identify();
      return enterOwner(db, owner);
    });
    // Where nothing waits for the disk, nothing trails.
    if (durability === "full") deferred = createDeferredFsync(db, path, transaction);
    writes = prepareOwnerWrites(prepare, deferred?.transaction ?? transaction, prepareFence(prepare, epoch));
  }
  const putMail = preparePutMail(prepare, deferred?.transaction ?? transaction, () => requireNotMoved(db, path));
  const queries = createQueries(prepare, read);
  const dataVersion = prepareDataVersion(prepare);
  let seen = dataVersion();
  file.setBusyTimeout(db, path, busyTimeout);
  const { patiently, onDelay, endWaiting } = waitingOf(world, access);
  function live(): void {
    if (!db.isOpen) throw storeClosed(description);
  }
  function readNow<Result>(work: () => Result): Result {
    live();
    try {
      return work();
    } catch (error) {
      throw storeErrorOf(error, description);
    }
  }
  function read<Result>(work: () => Result): Promise<Result> {
    return patiently("read", () => readNow(work));
  }
  function write<Result>(work: (writes: OwnerWrites) => Result): Promise<Result> {
    return patiently("write", () => work(own()));
  }
  function own(): OwnerWrites {
    live();
    if (writes !== null) return writes;
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
    onDelay,
    ...queries,

    commit: (commit) => write((writes) => writes.commit(commit)),
    async claim(ids) {
      const { requireOwner } = own();
      await read(requireOwner);
      const trees = await Promise.all(ids.map(queries.tree));
      const claimed = trees.filter((tree) => tree !== null).filter(claimable);
      return claimed.map((tree) => ({ ...tree, epoch: Math.max(epoch, tree.epoch) }));
    },
    markFailure: (tree, quarantine) => write((writes) => writes.markFailure(tree, quarantine)),
    markUnplaced: (tree, reason) => write((writes) => writes.markUnplaced(tree, reason)),
    release: (tree) => write((writes) => writes.release(tree)),
    replaceProjections: (tree, projections) => write((writes) => writes.replaceProjections(tree, projections)),
    expire: (before, limit) => write((writes) => writes.expire(before, limit)),
    raiseFormat: (to) => write((writes) => writes.raiseFormat(to)),
    setAnchor: (anchor) => write((writes) => writes.setAnchor(anchor)),

    movedTo: () => readNow(() => movedTo(db)),
    leave: (to, mail) => write((writes) => writes.leave(to, mail)),

    async flush() {
      // A reader cannot know how far its owner has come.
      if (access === "read") await syncLog(path);
      else if (db.isOpen) await deferred?.flush();
    },
    putMail: (mail) =>
      patiently("write", () => {
        live();
        return putMail(mail);
      }),
    async changed() {
      const now = await read(dataVersion);
      const differs = now !== seen;
      seen = now;
      return differs;
    },

    async close() {
      if (!db.isOpen) return;
      endWaiting();
      try {
        // Readers may hold it back; then the last connection to close does it.
        deferred?.setWaiting();
        if (access === "own") readNow(() => db.exec("pragma wal_checkpoint(truncate)"));
      } finally {
        db.close();
        try {
          options.onClosed?.();
        } finally {
          releaseLock();
          await deferred?.close();
        }
      }
    },
  };
}
