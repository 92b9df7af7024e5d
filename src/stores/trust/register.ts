/**
 * The register of the stores that this user's Errand may run: a small file for each, in the user's own data folder.
 * It is named by the hash of the
 * store's real path, so that a store is looked up without opening it.
 *
 * Invariants:
 *  1. An entry holds the hash of the store's seal, never the seal: the seal stands in the store alone, and only
 *     Errand writes it.
 *  2. An entry is there whole and durable before the store is written.
 *  3. What cannot be read as an entry is none.
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
import { errorText, ErrandError } from "../../errors.ts";
import { makeOwnFolder, ownFolderThere } from "../user-data.ts";

/** A store's file as its owner left it. */
export interface FileMark {
  readonly bytes: number;
  /** When it was last changed, in nanoseconds since 1970. */
  readonly changed: string;
}

export interface RegisterEntry {
  /** The real path of the store's file. */
  readonly path: string;
  readonly id: string;
  /** SHA-256 of the seal, in hex. */
  readonly seal: string;
  /** Whether Errand made the store, or the user trusted one that came from elsewhere. */
  readonly from: "made" | "trusted";
  /** When, in milliseconds since 1970. */
  readonly at: number;
  /** True once the store was opened after it was made. Until then a crash may leave its file without any commit. */
  readonly opened: boolean;
  /**
   * How the last owner left it; null while it has one, after a crash, and once mail was put. Always null of stores in
   * the data folder.
   */
  readonly left: FileMark | null;
}

export interface Register {
  find(path: string): RegisterEntry | null;
  /** Durable when it returns. */
  put(entry: RegisterEntry): void;
  remove(path: string): boolean;
  /** All entries, by their paths. */
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
      if (error instanceof SyntaxError || missing(error)) return null;
      throw unwritable(folder, error);
    }
  }

  /** Forgets stores that went long ago with the folder they stood in, such as those of tests. Looks at a few at a time. */
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
      if (!ownFolderThere(data) || !ownFolderThere(folder)) return null;
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
      const there = this.find(path) !== null;
      if (there) rmSync(fileOf(path), { force: true });
      return there;
    },
    list() {
      if (!ownFolderThere(data) || !ownFolderThere(folder)) return [];
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

function missing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}

function unwritable(folder: string, cause: unknown): ErrandError {
  const why = errorText(cause);
  return new ErrandError("data-folder-unusable", `The register ${folder} cannot be read or written: ${why}.`, {
    remedy: "Check that the folder is yours and that its disk has room, or set XDG_DATA_HOME to another one.",
    cause,
    details: { folder },
  });
}
