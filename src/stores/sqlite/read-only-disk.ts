/**
 * Reading a store on a disk, or in a folder, that cannot be written. SQLite reads a database with a write-ahead log
 * only if it can create a file beside it.
 *
 * Invariants:
 *  1. Without a log the database is read in place, as one that does not change: no process can write it.
 *  2. With a log, database and log are copied to a private folder. Closing the connection deletes the folder.
 */

import { accessSync, constants, copyFileSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";

/** True if nothing can be written beside the file. */
export function folderIsReadOnly(path: string): boolean {
  try {
    accessSync(dirname(path), constants.W_OK);
    return false;
  } catch {
    return true;
  }
}

export function openReadOnlyCopy(path: string): DatabaseSync {
  const log = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  if (log === 0) {
    const url = pathToFileURL(path);
    url.searchParams.set("immutable", "1");
    return new DatabaseSync(url, { readOnly: true });
  }
  const folder = mkdtempSync(join(tmpdir(), "errand-read-"));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    const copy = join(folder, "store.db");
    for (const suffix of ["", "-wal"]) copyFileSync(path + suffix, copy + suffix);
    const db = new DatabaseSync(copy, { readOnly: true });
    const close = db.close.bind(db);
    db.close = () => {
      close();
      remove();
    };
    return db;
  } catch (error) {
    remove();
    throw error;
  }
}
