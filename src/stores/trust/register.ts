/**
 * The register of the stores that this user's Errand may run: a small file for each store, in the user's data folder.
 * The file is named by the hash of the store's real path, so that a store is found without opening it.
 *
 * Invariants:
 *  1. An entry has the hash of the store's seal, never the seal: only the store has the seal, and only Errand writes
 *     it.
 *  2. An entry is complete and durable before the store is written.
 *  3. A file that cannot be read as an entry is ignored.
 */

import { hash } from "node:crypto";
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { World } from "../../contracts/world.ts";
import { type Json, jsonObjectIs } from "../../core/values/json.ts";
import { uuidIs } from "../../core/values/ids.ts";
import { errorCode, errorText, ErrandError } from "../../errors.ts";
import { makeOwnFolder, ownFolderExists } from "../user-data.ts";

/** A store's file as its owner closed it. */
export interface FileMark {
  readonly bytes: number;
  /** Time of the last change, in nanoseconds since 1970. */
  readonly changed: string;
}

export interface RegisterEntry {
  /** The real path of the store's file. */
  readonly path: string;
  readonly id: string;
  /** SHA-256 of the seal, in hex. */
  readonly seal: string;
  /** `made`: Errand created the store. `trusted`: it came from elsewhere and the user trusted it. */
  readonly from: "made" | "trusted";
  /** Since when, in milliseconds since 1970. */
  readonly at: number;
  /** True once the store was opened after its creation. Until then a crash may leave a file without any commit. */
  readonly opened: boolean;
  /**
   * The file as the last owner closed it. Null while the store has an owner, after a crash, and after mail was put;
   * always null for stores in the data folder.
   */
  readonly left: FileMark | null;
}

export interface Register {
  find(path: string): RegisterEntry | null;
  /** The entry is durable when this returns. */
  put(entry: RegisterEntry): void;
  remove(path: string): boolean;
  /** All entries, sorted by path. */
  list(): readonly RegisterEntry[];
}

const VERSION = 1;
const PRUNED_AT_A_TIME = 50;
const GONE_MS = 7 * 86_400_000;

export function openRegister(data: string, world: Pick<World, "random">): Register {
  const folder = join(data, "register");
  const fileOf = (path: string): string => join(folder, `${hash("sha256", path)}.json`);

  function read(file: string): RegisterEntry | null {
    try {
      return entryOf(JSON.parse(readFileSync(file, "utf8")) as Json);
    } catch (error) {
      if (error instanceof SyntaxError || errorCode(error) === "ENOENT") return null;
      throw unwritable(folder, error);
    }
  }

  /** Removes old entries of stores whose folder is gone, such as those of tests. Reads only some entries at a time. */
  function prune(now: number): void {
    const names = readdirSync(folder);
    const first = Number.parseInt(world.random(6), 16);
    for (let count = 0; count < Math.min(names.length, PRUNED_AT_A_TIME); count += 1) {
      const file = join(folder, names[(first + count) % names.length] ?? "");
      const entry = read(file);
      if (entry !== null && now - entry.at > GONE_MS && !existsSync(dirname(entry.path))) rmSync(file, { force: true });
    }
  }

  return {
    find(path) {
      if (!ownFolderExists(data) || !ownFolderExists(folder)) return null;
      const entry = read(fileOf(path));
      return entry?.path === path ? entry : null;
    },
    put(entry) {
      makeOwnFolder(data);
      makeOwnFolder(folder);
      if (read(fileOf(entry.path)) === null) prune(entry.at);
      const file = fileOf(entry.path);
      const beside = `${file}.${world.random(8)}.tmp`;
      try {
        writeDurably(beside, `${JSON.stringify({ version: VERSION, ...entry })}\n`);
        renameSync(beside, file);
        syncFolder(dirname(file));
      } catch (error) {
        rmSync(beside, { force: true });
        throw unwritable(folder, error);
      }
    },
    remove(path) {
      const found = this.find(path) !== null;
      if (found) rmSync(fileOf(path), { force: true });
      return found;
    },
    list() {
      if (!ownFolderExists(data) || !ownFolderExists(folder)) return [];
      const files = readdirSync(folder).filter((name) => name.endsWith(".json"));
      const entries = files.map((name) => read(join(folder, name))).filter((entry) => entry !== null);
      return entries.toSorted((one, other) => (one.path < other.path ? -1 : 1));
    },
  };
}

function entryOf(value: Json): RegisterEntry | null {
  if (!jsonObjectIs(value) || value["version"] !== VERSION) return null;
  const { path, id, seal, from, at, left } = value;
  const opened = value["opened"] === true;
  if (typeof path !== "string" || typeof id !== "string" || !uuidIs(id) || typeof seal !== "string") return null;
  if ((from !== "made" && from !== "trusted") || typeof at !== "number") return null;
  if (left === null) return { path, id, seal, from, at, opened, left };
  if (!jsonObjectIs(left)) return null;
  const { bytes, changed } = left;
  if (typeof bytes !== "number" || typeof changed !== "string") return null;
  return { path, id, seal, from, at, opened, left: { bytes, changed } };
}

function writeDurably(path: string, text: string): void {
  const file = openSync(path, "wx", 0o600);
  try {
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function syncFolder(folder: string): void {
  // Windows cannot open a folder.
  if (process.platform === "win32") return;
  const opened = openSync(folder, "r");
  try {
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
}

function unwritable(folder: string, cause: unknown): ErrandError {
  const why = errorText(cause);
  return new ErrandError("data-folder-unusable", `The register ${folder} cannot be read or written: ${why}.`, {
    remedy: "Check that the folder is yours and that its disk has room, or set XDG_DATA_HOME to another one.",
    cause,
    details: { folder },
  });
}
