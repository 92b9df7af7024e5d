/**
 * Transactions that trail: what they write survives this process when they return, and is on disk a moment later. SQLite makes its log durable
 * from its start to its end: a transaction that waits for the disk takes those before it along.
 *
 * Invariants:
 *  1. Every transaction that writes goes through here, and finds the connection set as it needs it: it waits for the disk, or it trails. It is set anew only for one of the other
 *     kind, because that takes longer than a small transaction.
 *  2. What trails is durable with the next transaction that writes and does not, or with the next `flush`.
 *  3. If the disk refuses anything, nothing is written any more, and nobody is told that it is durable. Therefore the log is held open before something
 *     trails: a file that is opened later is not told of errors before. And it is moved into the database only by transactions that wait: SQLite does not say
 *     whether the disk took the log then.
 */

import { closeSync, fsync, openSync } from "node:fs";
import { open } from "node:fs/promises";
import { promisify } from "node:util";
import { ErrandError } from "../../errors.ts";
import type { Connection } from "./connection.ts";
import { checkpointing, synchronous } from "./open-database.ts";
import { messageOf, sqliteIsIoError } from "./sqlite-errors.ts";
import type { Transaction } from "./connection.ts";

/** `waits`: it writes something, and with that all before it becomes durable. A transaction of which neither is said may write nothing. */
type Writing = "deferred" | "now";

export interface DeferredFsync {
  readonly transaction: <Result>(work: () => Result, writing?: Writing) => Result;
  /** Makes durable what trails, if anything does, without holding up the process. */
  flush(): Promise<void>;
  /** Sets the connection to wait for the disk, for what is no transaction. */
  setWaiting(): void;
  /** To be called when the store is closed, which makes all of it durable. */
  close(): Promise<void>;
}

const sync = promisify(fsync);

/** For a connection that waits for the disk and has written something, so that there is a log. */
export function createDeferredFsync(db: Connection, path: string, transaction: Transaction): DeferredFsync {
  let log = openLog(path);
  let behind = false;
  /** How the connection is set. */
  let relaxed = false;
  let failure: ErrandError | null = null;
  /** Whoever asks while it is under way waits for it too. */
  let caughtUp = Promise.resolve();

  async function makeDurable(file: number): Promise<void> {
    try {
      await sync(file);
    } catch (cause) {
      failure ??= new ErrandError(
        "store-failed",
        `The SQLite store ${path} was not made durable (${messageOf(cause)}).`,
        { remedy: "Stop Errand and look at the disk; work of the last moment may be done again.", cause },
      );
    }
    if (failure !== null) throw failure;
  }

  function setRelaxed(to: boolean): void {
    if (relaxed === to) return;
    // Should it fail between the two settings, the next transaction that waits sets both.
    relaxed = true;
    db.exec(`${synchronous(to ? "relaxed" : "full")}; ${checkpointing(!to)}`);
    relaxed = to;
  }

  return {
    transaction(work, writing) {
      if (failure !== null) throw failure;
      try {
        const trails = writing === "deferred" && log !== null;
        setRelaxed(trails);
        if (trails) behind = true;
        const result = transaction(work);
        if (writing !== undefined && !trails) behind = false;
        return result;
      } catch (error) {
        if (error instanceof ErrandError && sqliteIsIoError(error.cause)) failure = error;
        throw error;
      }
    },
    async flush() {
      if (failure !== null) throw failure;
      if (behind && log !== null) {
        const file = log;
        behind = false;
        caughtUp = caughtUp.then(() => makeDurable(file));
      }
      await caughtUp;
    },
    setWaiting: () => setRelaxed(false),
    async close() {
      const file = log;
      log = null;
      behind = false;
      await caughtUp.catch(() => undefined);
      if (file !== null) closeSync(file);
    },
  };
}

/**
 * SQLite has no locks on its log that closing it could lose: they are on its other files. Null if it cannot be had, be it for want of descriptors, be it because
 * the store stands behind a link: then nothing trails.
 */
function openLog(path: string): number | null {
  try {
    return openSync(`${path}-wal`, SYNC_MODE);
  } catch {
    return null;
  }
}

/** Windows makes a file durable only for those who may write it. */
const SYNC_MODE = process.platform === "win32" ? "r+" : "r";

/** Makes durable what the owner has written, for a reader. Without a log there is nothing left to do: whoever closed the store has done it. */
export async function syncLog(path: string): Promise<void> {
  const log = await open(`${path}-wal`, SYNC_MODE).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
  try {
    await log?.sync();
  } finally {
    await log?.close();
  }
}
