/** Finds a store whose write-ahead log was lost before any of its commits reached the database file. */

import { Buffer } from "node:buffer";
import { closeSync, existsSync, openSync, readSync, statSync } from "node:fs";

const HEADER_BYTES = 100;
const WAL_FORMAT = 2;
const FORMAT_AT = 18;
const USER_VERSION_AT = 60;

/**
 * True if the database was set to keep its commits in a log, holds none itself, and the log is not there. Read from the header of the file: a connection
 * of SQLite would make a new log.
 */
export function logIsMissing(path: string): boolean {
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) < HEADER_BYTES || existsSync(`${path}-wal`)) return false;
  const header = Buffer.alloc(HEADER_BYTES);
  const file = openSync(path, "r");
  try {
    readSync(file, header, 0, HEADER_BYTES, 0);
  } finally {
    closeSync(file);
  }
  const young = header[FORMAT_AT] === WAL_FORMAT && header.readUInt32BE(USER_VERSION_AT) === 0;
  return young && !existsSync(`${path}-wal`);
}
