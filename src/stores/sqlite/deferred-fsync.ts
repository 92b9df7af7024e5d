/**
 * Transactions with a deferred fsync: when they return, they survive the death of this process; they are on disk a
 * moment later. An fsync of SQLite's log covers the whole log, so a transaction that waits for the disk also makes the
 * earlier ones durable.
 *
 * Invariants:
 *  1. Every transaction that writes goes through here, which sets the connection to wait for the disk or not. It sets
 *     it only when the kind changes, because that takes longer than a small transaction.
 *  2. A deferred transaction becomes durable with the next one that is not deferred, or with the next `flush`.
 *  3. After the disk refused anything, nothing is written any more, and nothing is reported as durable. Therefore the
 *     log is opened before the first deferred transaction: a descriptor that is opened after a write error does not
 *     report it on fsync. And only transactions that wait may checkpoint: SQLite does not say whether the fsync of the
 *     log succeeded in a checkpoint after a deferred one.
 */

import { closeSync, fsync, openSync } from "node:fs";
import { open } from "node:fs/promises";
import { promisify } from "node:util";
import { errorCode, errorText, ErrandError } from "../../errors.ts";
import type { Connection, Transaction } from "./connection.ts";
import { checkpointing, synchronous } from "./open-database.ts";
import { sqliteIsIoError } from "./sqlite-errors.ts";

/** Of a transaction that writes: whether it waits for the disk. Not given for one that may write nothing. */
type Fsync = "deferred" | "now";

export interface DeferredFsync {
  readonly transaction: <Result>(work: () => Result, fsync?: Fsync) => Result;
  /** Makes deferred transactions durable, without blocking the event loop. */
  flush(): Promise<void>;
  /** From now on the connection waits for the disk. For writes that are no transaction. */
  waitForDisk(): void;
  /** Called after the connection was closed, which makes everything durable. */
  close(): Promise<void>;
}

const sync = promisify(fsync);

/** `db` waits for the disk and has written something, so that there is a log. */
export function createDeferredFsync(db: Connection, path: string, transaction: Transaction): DeferredFsync {
  let log = openLog(path);
  /** True if the log may have a transaction that is not durable. */
  let pending = false;
  /** True if the connection does not wait for the disk. */
  let relaxed = false;
  let failure: ErrandError | null = null;
  /** The last fsync. Callers of `flush` meanwhile wait for it too. */
  let flushed = Promise.resolve();

  async function syncFile(file: number): Promise<void> {
    try {
      await sync(file);
    } catch (cause) {
      const message = `The SQLite store ${path} could not be made durable (${errorText(cause)}).`;
      failure ??= new ErrandError("store-failed", message, {
        remedy: "Stop Errand and check the disk; work of the last moment may be done again.",
        cause,
      });
    }
    if (failure !== null) throw failure;
  }

  function setRelaxed(to: boolean): void {
    if (relaxed === to) return;
    // If it fails between the two settings, the next transaction that waits sets both.
    relaxed = true;
    db.exec(`${synchronous(to ? "relaxed" : "full")}; ${checkpointing(!to)}`);
    relaxed = to;
  }

  return {
    transaction(work, kind) {
      if (failure !== null) throw failure;
      try {
        const deferred = kind === "deferred" && log !== null;
        setRelaxed(deferred);
        if (deferred) pending = true;
        const result = transaction(work);
        if (kind !== undefined && !deferred) pending = false;
        return result;
      } catch (error) {
        if (error instanceof ErrandError && sqliteIsIoError(error.cause)) failure = error;
        throw error;
      }
    },
    async flush() {
      if (failure !== null) throw failure;
      const file = log;
      if (pending && file !== null) {
        pending = false;
        flushed = flushed.then(() => syncFile(file));
      }
      await flushed;
    },
    waitForDisk: () => setRelaxed(false),
    async close() {
      const file = log;
      log = null;
      pending = false;
      await flushed.catch(() => undefined);
      if (file !== null) closeSync(file);
    },
  };
}

/**
 * Closing this descriptor drops no lock of SQLite: its locks are on other files. Null if the log cannot be opened, for
 * lack of descriptors or because the store is behind a link: then no transaction is deferred.
 */
function openLog(path: string): number | null {
  try {
    return openSync(`${path}-wal`, SYNC_MODE);
  } catch {
    return null;
  }
}

/** Windows requires write access for an fsync. */
const SYNC_MODE = process.platform === "win32" ? "r+" : "r";

/** Makes what the owner has written durable, for a reader. If there is no log, closing the store has done that. */
export async function syncLog(path: string): Promise<void> {
  const log = await open(`${path}-wal`, SYNC_MODE).catch((error: unknown) => {
    if (errorCode(error) === "ENOENT") return null;
    throw error;
  });
  try {
    await log?.sync();
  } finally {
    await log?.close();
  }
}
