/**
 * SQLite's errors as errors of Errand.
 *
 * Invariant: an error that is not SQLite's is passed on unchanged; it is a refusal, or a bug.
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
/** An extended code: a read-only connection found a journal that must first be rolled back. */
const SQLITE_READONLY_ROLLBACK = 776;

/**
 * An extended code: the index of the log could not grow, and SQLite rolled back. The disk did not fail, it is full. The
 * next write replaces what is in the log; after a crash before that, the write may be there, as after a crash during
 * any commit.
 */
const SQLITE_IOERR_SHMSIZE = 4_874;

/** The primary result code of an error that SQLite made, or null. */
function sqliteCode(error: unknown): number | null {
  if (!(error instanceof Error) || !("errcode" in error) || typeof error.errcode !== "number") return null;
  return error.errcode === SQLITE_IOERR_SHMSIZE ? SQLITE_FULL : error.errcode & 0xff;
}

export function sqliteIsBusy(error: unknown): boolean {
  return sqliteCode(error) === SQLITE_BUSY;
}

/** True if the disk failed, perhaps in an fsync: its content is unknown. */
export function sqliteIsIoError(error: unknown): boolean {
  return sqliteCode(error) === SQLITE_IOERR;
}

/** True if SQLite could not open the file, or could not create a file that it needs beside it. */
export function sqliteCannotOpen(error: unknown): boolean {
  return sqliteCode(error) === SQLITE_CANTOPEN;
}

/** True if a process died in the middle of a write to the file. Only a connection that may write can roll it back. */
export function sqliteNeedsRollback(error: unknown): boolean {
  return error instanceof Error && "errcode" in error && error.errcode === SQLITE_READONLY_ROLLBACK;
}

/** The error that a read or a write of an open store throws. */
export function storeErrorOf(cause: unknown, description: string): unknown {
  const why = errorText(cause);
  switch (sqliteCode(cause)) {
    case null:
      return cause;
    case SQLITE_FULL:
      return new ErrandError("store-full", `${description} has no room left for a write (${why}).`, {
        remedy:
          "Make room on the disk. Work under way waits and continues by itself; new work was refused and can be " +
          "tried again.",
        cause,
      });
    case SQLITE_BUSY:
      return new ErrandError("store-busy", `${description} is locked by another program (${why}).`, {
        remedy:
          "Errand waits, and continues by itself once that program ends its transaction or closes the file; " +
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
        remedy: "Stop Errand and check the disk; the last write may or may not be stored.",
        cause,
      });
  }
}
