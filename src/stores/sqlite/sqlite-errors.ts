/**
 * What SQLite's errors mean to a user of Errand.
 *
 * Invariant: an error that is not SQLite's own is passed on as it is; it is a refusal, or a bug to be seen.
 */

import { errorText, ErrandError } from "../../errors.ts";
import { rowRefused } from "../refusals.ts";

/** Primary result codes of SQLite; an extended code has one of them in its low byte. */
const SQLITE_BUSY = 5;
const SQLITE_IOERR = 10;
const SQLITE_CORRUPT = 11;
const SQLITE_FULL = 13;
const SQLITE_TOOBIG = 18;
const SQLITE_CONSTRAINT = 19;
const SQLITE_MISMATCH = 20;
const SQLITE_RANGE = 25;
const SQLITE_CANTOPEN = 14;
const SQLITE_NOTADB = 26;
/** An extended code: a read-only connection found a journal that must be rolled back first. */
const SQLITE_READONLY_ROLLBACK = 776;

/** The primary result code of an error that SQLite made, or null. */
function sqliteCode(error: unknown): number | null {
  if (!(error instanceof Error) || !("errcode" in error) || typeof error.errcode !== "number") return null;
  return error.errcode & 0xff;
}

export function sqliteIsBusy(error: unknown): boolean {
  return sqliteCode(error) === SQLITE_BUSY;
}

/** True if the disk failed, an fsync among it: nobody knows what it holds. */
export function sqliteIsIoError(error: unknown): boolean {
  return sqliteCode(error) === SQLITE_IOERR;
}

/** True if SQLite could not open the file, or make one that it needs beside it. */
export function sqliteCannotOpen(error: unknown): boolean {
  return sqliteCode(error) === SQLITE_CANTOPEN;
}

/** True if a process died in the middle of a write to the file, and only a connection that may write can undo it. */
export function sqliteNeedsRollback(error: unknown): boolean {
  return error instanceof Error && "errcode" in error && error.errcode === SQLITE_READONLY_ROLLBACK;
}

export function messageOf(error: unknown): string {
  return errorText(error);
}

/** The error that a read or a write of an open store throws. */
export function storeErrorOf(cause: unknown, description: string): unknown {
  const why = messageOf(cause);
  switch (sqliteCode(cause)) {
    case null:
      return cause;
    case SQLITE_FULL:
      return new ErrandError("store-full", `${description} has no room left for a write (${why}).`, {
        remedy:
          "Make room on the disk. Work under way waits for it and goes on by itself; new work was refused and can be tried again.",
        cause,
      });
    case SQLITE_BUSY:
      return new ErrandError("store-busy", `${description} is locked by another program (${why}).`, {
        remedy:
          "Errand waits and goes on by itself once that program ends its transaction or closes the file; " +
          "it may be a database browser.",
        cause,
      });
    case SQLITE_TOOBIG:
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
    case SQLITE_RANGE:
      return rowRefused(description, cause);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return new ErrandError("store-corrupt", `${description} is damaged (${why}).`, {
        remedy: "Stop Errand and restore the file from a backup.",
        cause,
      });
    default:
      return new ErrandError("store-failed", `${description} could not be read or written (${why}).`, {
        remedy: "Stop Errand and look at the disk; what was asked for may or may not have been kept.",
        cause,
      });
  }
}
