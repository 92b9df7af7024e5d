/**
 * The user's own data folder: `errand` in XDG_DATA_HOME. It holds the stores of the command line (`stores/`) and the
 * register of the stores that this user's
 * Errand may run (`register/`). What stands there decides what runs, so a folder that others may write is refused.
 */

import { lstatSync, mkdirSync, type Stats, statSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { errorText, ErrandError } from "../errors.ts";

export interface UserEnvironment {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
}

export function dataFolder({ env, home }: UserEnvironment): string {
  const chosen = env["XDG_DATA_HOME"] ?? "";
  return join(isAbsolute(chosen) ? chosen : join(home, ".local", "share"), "errand");
}

/** Makes the folder, for its owner alone, unless it exists. Throws unless only this user may write it. */
export function makeOwnFolder(folder: string): void {
  try {
    makeFolder(folder);
  } catch (cause) {
    const why = errorText(cause);
    throw unusable(folder, `it cannot be made (${why})`, "Set XDG_DATA_HOME to a folder that you may write.", cause);
  }
  requireOwnFolder(folder);
}

/** True if the folder is there. Throws if others may write it. */
export function ownFolderThere(folder: string): boolean {
  if (statSync(folder, { throwIfNoEntry: false }) === undefined) return false;
  requireOwnFolder(folder);
  return true;
}

function requireOwnFolder(folder: string): void {
  const stats = statSync(folder);
  const chmod = `Make it yours alone: chmod 700 ${folder}`;
  if (!stats.isDirectory()) throw unusable(folder, "it is no folder", "Remove what stands there.");
  if (!ownerIs(stats)) throw unusable(folder, "it belongs to another user", "Set XDG_DATA_HOME to a folder of yours.");
  // Windows has no such modes.
  if (process.platform !== "win32" && (stats.mode & 0o022) !== 0)
    throw unusable(folder, "other users may write it", chmod);
}

function ownerIs({ uid }: Stats): boolean {
  return process.getuid === undefined || uid === process.getuid();
}

/**
 * Makes a folder that only its owner may open, and the folders above it. One at a time: Node's own recursion never
 * ends where a folder cannot be made, such as in /proc.
 */
export function makeFolder(folder: string): void {
  if (lstatSync(folder, { throwIfNoEntry: false }) !== undefined) return;
  makeFolder(dirname(folder));
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // Another process was quicker.
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  }
}

function unusable(folder: string, why: string, remedy: string, cause?: unknown): ErrandError {
  return new ErrandError("data-folder-unusable", `The data folder ${folder} cannot be used: ${why}.`, {
    remedy,
    cause,
    details: { folder },
  });
}
