/**
 * The files of a SQLite store: the database, and what SQLite and Errand keep beside it. A folder that another user
 * created may contain anything under these names, so they are checked before SQLite opens them.
 */

import { closeSync, constants, existsSync, fstatSync, lstatSync, openSync, readSync } from "node:fs";
import { errorText } from "../../errors.ts";
import { ACCESS_REMEDY, KIND_REMEDY, requireKnownVersion, unreadable } from "../sqlite/open-database.ts";
import { APPLICATION_ID } from "../sqlite/schema.ts";
import type { FileMark } from "./register.ts";

/** A write-ahead log and a rollback journal change the database when it is opened; the others are only opened. */
const REPLAYED = ["-wal", "-journal"] as const;
const BESIDE = [...REPLAYED, "-shm", "-owner"] as const;

/** The reason why the files may not be opened in place, or null. A file that does not exist is no problem. */
export function filesProblem(path: string): string | null {
  const file = lstatSync(path, { throwIfNoEntry: false });
  if (file !== undefined && !file.isFile()) return "it is not a file";
  if (file !== undefined && file.nlink > 1) return "its file has more than one name (a hard link)";
  for (const suffix of BESIDE) {
    const stats = lstatSync(path + suffix, { throwIfNoEntry: false });
    if (stats !== undefined && (!stats.isFile() || stats.nlink > 1)) return `${path}${suffix} is a link, or not a file`;
  }
  return null;
}

/** True if opening the database would change it, because a log or a journal beside it is not empty. */
export function hasUnappliedWrites(path: string): boolean {
  return REPLAYED.some((suffix) => bytesOf(path + suffix) > 0);
}

/** True if there is a rollback journal, which SQLite would play back. */
export function hasRollbackJournal(path: string): boolean {
  return bytesOf(`${path}-journal`) > 0;
}

function bytesOf(path: string): number {
  return lstatSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** Null if there is no file. */
export function markOf(path: string): FileMark | null {
  const stats = lstatSync(path, { throwIfNoEntry: false, bigint: true });
  return stats === undefined ? null : { bytes: Number(stats.size), changed: String(stats.mtimeNs) };
}

export function markEquals(one: FileMark, other: FileMark | null): boolean {
  return one.bytes === other?.bytes && one.changed === other.changed;
}

/** The header of a SQLite file: how it begins, its length, and the offsets of some fields. */
const MAGIC = "SQLite format 3\0";
const FORMAT_AT = 18;
const VERSION_AT = 60;
const APPLICATION_AT = 68;
const HEADER_BYTES = 100;
/** The value at `FORMAT_AT` of a database with a write-ahead log. */
const WAL_FORMAT = 2;

/** Opens a file for reading without SQLite. It follows no link, and does not wait for a pipe. */
export function openPlain(path: string): number {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    throw unreadable(path, errorText(error), ACCESS_REMEDY, error);
  }
}

/** Throws unless the header is that of a store of Errand, of a known version. SQLite does not open the file. */
export function requireStoreFile(path: string): void {
  const header = headerOf(path);
  if (header === null) return;
  const application = header.readUInt32BE(APPLICATION_AT);
  // In a new store the number is only in the log beside it.
  const known = application === APPLICATION_ID || application === 0;
  if (header.toString("latin1", 0, MAGIC.length) !== MAGIC || !known)
    throw unreadable(path, "it is not a store of Errand", KIND_REMEDY);
  requireKnownVersion(path, header.readUInt32BE(VERSION_AT));
}

/**
 * True if the database is set to keep its commits in a log, has none of them itself, and the log is missing. The header
 * is read without SQLite, which would create a new log.
 */
export function logIsMissing(path: string): boolean {
  if (bytesOf(path) < HEADER_BYTES || existsSync(`${path}-wal`)) return false;
  const header = headerOf(path);
  const isNew = header?.[FORMAT_AT] === WAL_FORMAT && header.readUInt32BE(VERSION_AT) === 0;
  return isNew && !existsSync(`${path}-wal`);
}

/** Null for an empty file. */
function headerOf(path: string): Buffer | null {
  const file = openPlain(path);
  try {
    if (!fstatSync(file).isFile()) throw unreadable(path, "it is not a file", KIND_REMEDY);
    const header = Buffer.alloc(HEADER_BYTES);
    return readSync(file, header, 0, HEADER_BYTES, 0) === 0 ? null : header;
  } finally {
    closeSync(file);
  }
}
