/**
 * The user's own data folder: `errand` in XDG_DATA_HOME. It contains the stores of the command line (`stores/`) and the
 * register of the stores that this user's Errand may run (`register/`). Its content decides what runs, so a folder that
 * others can write is refused.
 */

import { lstatSync, mkdirSync, type Stats, statSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { errorCode, errorText, ErrandError } from "../errors.ts";

export interface UserEnvironment {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
}

export function dataFolder({ env, home }: UserEnvironment): string {
  const chosen = env["XDG_DATA_HOME"] ?? "";
  return join(isAbsolute(chosen) ? chosen : join(home, ".local", "share"), "errand");
}

/** Creates the folder for this user alone, unless it exists. Throws if others can write it. */
export function makeOwnFolder(folder: string): void {
  try {
    makeFolder(folder);
  } catch (cause) {
    const why = errorText(cause);
    throw unusable(folder, `it cannot be created (${why})`, "Set XDG_DATA_HOME to a folder that you can write.", cause);
  }
  requireOwnFolder(folder);
}

/** Throws if others can write the folder. */
export function ownFolderExists(folder: string): boolean {
  if (statSync(folder, { throwIfNoEntry: false }) === undefined) return false;
  requireOwnFolder(folder);
  return true;
}

function requireOwnFolder(folder: string): void {
  const stats = statSync(folder);
  const chmod = `Make it yours alone: chmod 700 ${folder}`;
  if (!stats.isDirectory()) throw unusable(folder, "it is not a folder", "Remove what is there.");
  if (!ownerIs(stats))
    throw unusable(folder, "it belongs to another user", "Set XDG_DATA_HOME to a folder of your own.");
  // Windows has no file modes.
  if (process.platform !== "win32" && (stats.mode & 0o022) !== 0)
    throw unusable(folder, "other users can write it", chmod);
}

function ownerIs({ uid }: Stats): boolean {
  return process.getuid === undefined || uid === process.getuid();
}

/**
 * Creates a folder that only its owner may open, and the folders above it. One at a time: Node's own recursion never
 * ends where a folder cannot be created, such as in /proc.
 */
export function makeFolder(folder: string): void {
  if (lstatSync(folder, { throwIfNoEntry: false }) !== undefined) return;
  makeFolder(dirname(folder));
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // Another process was quicker.
    if (errorCode(error) !== "EEXIST") throw error;
  }
}

function unusable(folder: string, why: string, remedy: string, cause?: unknown): ErrandError {
  return new ErrandError("data-folder-unusable", `The data folder ${folder} cannot be used: ${why}.`, {
    remedy,
    cause,
    details: { folder },
  });
}
