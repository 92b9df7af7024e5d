/**
 * The files of a SQLite store as the file system has them: the database and what SQLite and Errand keep beside it. A
 * folder that somebody else made may hold
 * anything under these names, so they are looked at before SQLite opens them.
 */

import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from "node:fs";
import { ACCESS_REMEDY, KIND_REMEDY, requireKnownVersion, unreadable } from "../sqlite/open-database.ts";
import { APPLICATION_ID } from "../sqlite/schema.ts";
import { messageOf } from "../sqlite/sqlite-errors.ts";
import type { FileMark } from "./register.ts";

/** A write-ahead log and a rollback journal change the database when it is opened; the others are only opened. */
const REPLAYED = ["-wal", "-journal"] as const;
const BESIDE = [...REPLAYED, "-shm", "-owner"] as const;

/** What keeps the files from being opened in place, or null. Nothing there is well too. */
export function filesProblem(path: string): string | null {
  const file = lstatSync(path, { throwIfNoEntry: false });
  if (file !== undefined && !file.isFile()) return "it is no file";
  if (file !== undefined && file.nlink > 1) return "its file has more than one name (a hard link)";
  for (const suffix of BESIDE) {
    const stats = lstatSync(path + suffix, { throwIfNoEntry: false });
    if (stats !== undefined && (!stats.isFile() || stats.nlink > 1)) return `${path}${suffix} is a link, or no file`;
  }
  return null;
}

/** True if opening the database would change it: a log or a journal with something in it stands beside it. */
export function replayedBeside(path: string): boolean {
  return REPLAYED.some((suffix) => bytesOf(path + suffix) > 0);
}

/** True if a rollback journal stands beside it, which SQLite would play back. */
export function journalBeside(path: string): boolean {
  return bytesOf(`${path}-journal`) > 0;
}

function bytesOf(path: string): number {
  return lstatSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** Null where there is no file. */
export function markOf(path: string): FileMark | null {
  const stats = lstatSync(path, { throwIfNoEntry: false, bigint: true });
  return stats === undefined ? null : { bytes: Number(stats.size), changed: String(stats.mtimeNs) };
}

export function markEquals(one: FileMark, other: FileMark | null): boolean {
  return one.bytes === other?.bytes && one.changed === other.changed;
}

const HEADER = "SQLite format 3\0";
/** Where SQLite keeps the numbers of the schema's version and of the application, in a header of 100 bytes. */
const VERSION_AT = 60;
const APPLICATION_AT = 68;
const HEADER_BYTES = 100;

/** Opens a file to read it without SQLite; a link under the name is not followed, and nothing is waited for. */
export function openPlain(path: string): number {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    throw unreadable(path, messageOf(error), ACCESS_REMEDY, error);
  }
}

/** Throws unless the file begins as a store of Errand does, of a version that is known. SQLite does not look at it. */
export function requireStoreFile(path: string): void {
  const header = headerOf(path);
  if (header === null) return;
  const application = header.readUInt32BE(APPLICATION_AT);
  // A store that was just begun has its number only in the log beside it.
  const known = application === APPLICATION_ID || application === 0;
  if (header.toString("latin1", 0, HEADER.length) !== HEADER || !known)
    throw unreadable(path, "it is no store of Errand", KIND_REMEDY);
  requireKnownVersion(path, header.readUInt32BE(VERSION_AT));
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
