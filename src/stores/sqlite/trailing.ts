/**
 * Transactions that trail: what they write survives this process when they return, and is on disk a moment later. SQLite makes its log durable
 * from its start to its end: a transaction that waits for the disk takes those before it along.
 *
 * Invariants:
 *  1. Outside of a transaction that trails the connection is set to wait for the disk: no other write needs to think of it.
 *  2. What trails is durable with the next transaction that writes and does not, or with the next `catchUp`.
 *  3. If the disk refuses it then, nothing is written any more.
 */

import { type FileHandle, open } from "node:fs/promises";
import { ErrandError } from "../../errors.ts";
import type { Connection } from "./connection.ts";
import { synchronous } from "./open-database.ts";
import { messageOf } from "./sqlite-errors.ts";
import type { Transaction } from "./transaction.ts";

/** `waits`: it writes something, and with that all before it becomes durable. A transaction of which neither is said may write nothing. */
type Writing = "trails" | "waits";

export interface Trailing {
  readonly transaction: <Result>(work: () => Result, writing?: Writing) => Result;
  /** Makes durable what trails, if anything does, without holding up the process. */
  catchUp(): Promise<void>;
}

/** For a connection that waits for the disk. */
export function createTrailing(db: Connection, path: string, transaction: Transaction): Trailing {
  let behind = false;
  let failure: ErrandError | null = null;
  /** Whoever asks while it is under way waits for it too. */
  let caughtUp = Promise.resolve();

  async function makeDurable(): Promise<void> {
    try {
      await syncLog(path);
    } catch (cause) {
      failure = new ErrandError(
        "store-failed",
        `The SQLite store ${path} was not made durable (${messageOf(cause)}).`,
        {
          remedy: "Stop Errand and look at the disk; work of the last moment may be done again.",
          cause,
        },
      );
      throw failure;
    }
  }

  function trail<Result>(work: () => Result): Result {
    db.exec(synchronous("relaxed"));
    behind = true;
    try {
      return transaction(work);
    } finally {
      db.exec(synchronous("full"));
    }
  }

  return {
    transaction(work, writing) {
      if (failure !== null) throw failure;
      if (writing === "trails") return trail(work);
      const result = transaction(work);
      if (writing === "waits") behind = false;
      return result;
    },
    catchUp() {
      if (behind) {
        behind = false;
        caughtUp = caughtUp.then(makeDurable);
      }
      return caughtUp;
    },
  };
}

/** Windows makes a file durable only for those who may write it. */
const SYNC_MODE = process.platform === "win32" ? "r+" : "r";

/**
 * Makes durable what any process has written. Without a log there is nothing left to do: whoever closed the store has done it. SQLite has no locks
 * on its log that closing it here could lose: they are on its other files.
 */
export async function syncLog(path: string): Promise<void> {
  let log: FileHandle;
  try {
    log = await open(`${path}-wal`, SYNC_MODE);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return;
    throw error;
  }
  try {
    await log.sync();
  } finally {
    await log.close();
  }
}
