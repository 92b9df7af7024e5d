/**
 * A store that is not trusted, opened for reading. A private copy is read, so that nothing in its folder is written or
 * locked, and no link there is followed.
 *
 * Invariants:
 *  1. The copy is opened only if its schema is exactly the one that Errand creates.
 *  2. Every value is checked as it is read (`checked-records.ts`).
 *  3. Mail, commits and all other writes are refused.
 *  4. Closing the store deletes the copy.
 */

import { createHash } from "node:crypto";
import { closeSync, fstatSync, lstatSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Store } from "../../contracts/store.ts";
import { refusedWrites } from "../refusals.ts";
import { ErrandError } from "../../errors.ts";
import { openConnection, schemaVersionOf, storeMissing, unreadable } from "../sqlite/open-database.ts";
import { schemaIsKnown } from "../sqlite/schema.ts";
import { openSqliteStore } from "../sqlite/sqlite-store.ts";
import { checkedRecords } from "./checked-records.ts";
import { openPlain, requireStoreFile } from "./store-files.ts";

export interface ForeignStore extends Store {
  /** A hash of the file and its log, to detect later that they changed since they were read. */
  readonly digest: string;
}

const COPIED = ["", "-wal"] as const;
/** A bigger file is not copied. */
const MOST_BYTES = 1_073_741_824;
const CHUNK = 1_048_576;
const FOREIGN_REMEDY =
  "Something other than Errand changed it. Ask the person who gave it to you for an export of the tree instead.";

/** `path` is canonical. */
export function openForeignStore(path: string): ForeignStore {
  requireStoreFile(path);
  const folder = mkdtempSync(join(tmpdir(), "errand-look-"));
  try {
    const copy = join(folder, "store.db");
    const digest = digestOf(path, copy);
    const store = openCopy(copy, path);
    const refuse = async (): Promise<never> => {
      throw new ErrandError(
        "store-not-trusted",
        `The store ${path} is not trusted: it takes no messages and no work.`,
        {
          remedy: `If it is yours, look at it and agree: errand trust --store ${path}`,
          details: { path },
        },
      );
    };
    return {
      ...checkedRecords(store),
      digest,
      description: `The store ${path}, which is not trusted`,
      ...refusedWrites(refuse),
      putMail: refuse,
      async close() {
        await store.close();
        rmSync(folder, { recursive: true, force: true });
      },
    };
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw withOwnPath(error, join(folder, "store.db"), path);
  }
}

function openCopy(copy: string, path: string): Store {
  const db = openConnection(copy, false);
  try {
    db.exec("pragma trusted_schema = off; pragma cell_size_check = on");
    if (schemaVersionOf(db, copy) === 0) throw storeMissing(path, "Name the file of a store.");
    if (!schemaIsKnown(db)) throw unreadable(path, "its tables are not those of Errand", FOREIGN_REMEDY);
  } finally {
    db.close();
  }
  return openSqliteStore({ path: copy, access: "own", durability: "none" });
}

/** Reads the file and its log to the end, and copies them to `copy` if it is given. Returns the hash of both. */
export function digestOf(path: string, copy?: string): string {
  const digest = createHash("sha256");
  for (const suffix of COPIED) {
    if (suffix !== "" && lstatSync(path + suffix, { throwIfNoEntry: false }) === undefined) continue;
    const bytes = readWhole(path + suffix, copy === undefined ? null : copy + suffix, (chunk) => digest.update(chunk));
    // An empty log is the same as none.
    if (bytes > 0) digest.update(`${suffix}:${bytes};`);
  }
  return digest.digest("hex");
}

function readWhole(path: string, copy: string | null, each: (chunk: Uint8Array) => void): number {
  const from = openPlain(path);
  const to = copy === null ? null : openSync(copy, "wx", 0o600);
  try {
    const stats = fstatSync(from);
    if (!stats.isFile()) throw unreadable(path, "it is not a file", "Name the file of a store.");
    if (stats.size > MOST_BYTES) {
      const remedy = "Have its owner export the tree, or trust the store if it is yours.";
      throw unreadable(path, `it is not trusted, and too big to be copied (${stats.size} bytes)`, remedy);
    }
    const buffer = Buffer.alloc(CHUNK);
    let total = 0;
    for (let read = readSync(from, buffer); read > 0 && total <= MOST_BYTES; read = readSync(from, buffer)) {
      const chunk = buffer.subarray(0, read);
      each(chunk);
      if (to !== null) writeSync(to, chunk);
      total += read;
    }
    return total;
  } finally {
    closeSync(from);
    if (to !== null) closeSync(to);
  }
}

/** The same error about the store's own path, which is the one that people know. */
function withOwnPath(error: unknown, copy: string, path: string): unknown {
  if (!(error instanceof ErrandError)) return error;
  const { code, message, remedy, cause, details } = error;
  return new ErrandError(code, message.replaceAll(copy, path), {
    ...(remedy === undefined ? {} : { remedy }),
    cause,
    details: { ...details, path },
  });
}
