/**
 * Every write to a workspace: the new content of one regular file, all of it or nothing.
 *
 * Invariants:
 *  1. The folder of the file has its real path inside the workspace. On Linux that folder is held open, so that
 *     swapping it for a symlink has no effect. Missing folders are made one at a time, each inside one that is held
 *     open.
 *  2. The content goes to a new file in the same folder, is fsynced, and takes the name by a rename. So no reader
 *     sees a part of it.
 *  3. The mode and owner of an existing file stay. A link, a folder, a pipe or a write-protected file is not replaced.
 *  4. `.errand` and `.git`, the records of Errand and of git, are not written to.
 *  5. A change that the user allowed is made only to the file that they saw.
 *  6. Nothing throws: a refusal is a sentence for the model that says what to do.
 */

import { constants } from "node:fs";
import type { Stats } from "node:fs";
import { lstat, mkdir, open, realpath, rename, unlink } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import type { FileFacts } from "../core/permissions/permissions.ts";
import { STOPPED } from "./result.ts";
import { CHANGED_SINCE, readSeenFile } from "./seen-file.ts";
import { errorCode, escapedPath, factsOf, openWorkspace, pathFrom, pathIsInside } from "./workspace.ts";
import type { PathTarget, Refusal, Workspace } from "./workspace.ts";

export interface Replacement {
  readonly path: string;
  readonly content: Buffer;
  /** A part of the temporary file's name that no other file has. */
  readonly unique: string;
  readonly signal: AbortSignal;
  /** The file when its content was read. It must still be the same. */
  readonly expected?: { readonly inode: number; readonly modifiedMs: number; readonly size: number };
  /** The mark of the file that the user saw. It must still have this mark (seen-file.ts). */
  readonly seen?: string | undefined;
}

export interface Replaced {
  /** From the workspace, with `/`. */
  readonly relative: string;
  /** The size of the old file in bytes; null for a new file. */
  readonly before: number | null;
}

/** The place of an existing file or of a new one. */
type WriteTarget = Pick<PathTarget, "absolute" | "relative" | "linked">;

interface Folder {
  readonly handle: FileHandle;
  /** The folder's real path. */
  readonly real: string;
  /** A path that leads to this folder as long as the handle is open. */
  readonly base: string;
}

const PROTECTED_FOLDERS: ReadonlySet<string> = new Set([".errand", ".git"]);
const MAX_NAME_BYTES = 200;
const NEW_FILE_MODE = 0o666;

export async function replaceFile(workspace: Workspace, wanted: Replacement): Promise<Replaced | Refusal> {
  const target = await writeTarget(workspace, wanted.path);
  if ("refused" in target) return target;
  const refused = workspace.rulesRefuse(wanted.path, target);
  if (refused !== null) return refused;
  const name = `"${escapedPath(wanted.path)}"`;
  const records = target.relative.split("/").find((part) => PROTECTED_FOLDERS.has(part.toLowerCase()));
  if (records !== undefined) {
    const owner = records.toLowerCase() === ".git" ? "git" : "Errand";
    return { refused: `${name} is in ${records}, where ${owner} keeps its records; it cannot be written.` };
  }
  if (Buffer.byteLength(basename(target.absolute)) > MAX_NAME_BYTES)
    return { refused: `the file's name is longer than ${MAX_NAME_BYTES} bytes. Give a shorter one.` };
  let folder: Folder | Refusal | null = null;
  try {
    folder = await openFolder(workspace.root, dirname(target.absolute));
    if ("refused" in folder) return folder;
    return await replaceIn(folder, basename(target.absolute), target.relative, wanted);
  } catch (error) {
    return { refused: `${name} cannot be written (${errorCode(error)}). Tell the user, or write elsewhere.` };
  } finally {
    if (folder !== null && "handle" in folder) await folder.handle.close();
  }
}

/** The real place of the file that a call writes, for the rules. */
export async function locateTarget(path: string, folder: string): Promise<FileFacts | null> {
  const workspace = await openWorkspace(folder);
  if ("refused" in workspace) return null;
  const target = await writeTarget(workspace, path);
  return "refused" in target ? null : factsOf(workspace, path, target);
}

/** The place of the file; a new file is below the deepest existing folder of its path. */
export async function writeTarget(workspace: Workspace, path: string): Promise<WriteTarget | Refusal> {
  const whole = await workspace.find(path);
  if (!("refused" in whole)) {
    if (whole.kind === "file") return whole;
    return { refused: `"${escapedPath(path)}" is a folder. Give the path of a file in it.` };
  }
  const wanted = resolve(workspace.root, path);
  if (path === "" || path.includes("\0") || path.endsWith("/") || !pathIsInside(workspace.root, wanted)) {
    return path.endsWith("/") ? { refused: `"${escapedPath(path)}" names a folder. Give the path of a file.` } : whole;
  }
  // What exists and was refused stays refused: a symlink that leads out or nowhere, a pipe, an unreadable folder.
  if (await exists(wanted)) return whole;
  let missing = basename(wanted);
  for (let above = dirname(wanted); pathIsInside(workspace.root, above); above = dirname(above)) {
    const found = await workspace.find(above);
    if (!("refused" in found)) {
      if (found.kind === "file")
        return { refused: `"${escapedPath(found.relative)}" is a file, not a folder. Write elsewhere.` };
      const absolute = join(found.absolute, missing);
      return { absolute, relative: pathFrom(workspace.root, absolute), linked: false };
    }
    if (await exists(above)) return found;
    missing = join(basename(above), missing);
  }
  return whole;
}

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    return errorCode(error) !== "ENOENT" && errorCode(error) !== "ENOTDIR";
  }
}

/** Opens the folder and makes missing ones on the way. Each folder is checked after it was opened. */
async function openFolder(root: string, path: string): Promise<Folder | Refusal> {
  let folder = await holdFolder(root, root);
  for (const name of relative(root, path).split(sep)) {
    if ("refused" in folder || name === "") return folder;
    const { handle } = folder;
    try {
      folder = await holdInner(folder, name);
    } finally {
      await handle.close();
    }
  }
  return folder;
}

async function holdInner(folder: Folder, name: string): Promise<Folder | Refusal> {
  const inner = join(folder.base, name);
  try {
    await mkdir(inner);
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
  }
  return await holdFolder(inner, join(folder.real, name));
}

async function holdFolder(path: string, real: string): Promise<Folder | Refusal> {
  const handle = await open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  const base = process.platform === "linux" ? `/proc/self/fd/${handle.fd}` : real;
  const leads = await realpath(base).catch(() => null);
  if (leads === real) return { handle, real, base };
  await handle.close();
  return { refused: "a folder was replaced while the file was being written. Try again." };
}

async function replaceIn(
  folder: Folder,
  name: string,
  relativePath: string,
  wanted: Replacement,
): Promise<Replaced | Refusal> {
  const { content, signal, seen } = wanted;
  const quoted = `"${escapedPath(relativePath)}"`;
  const target = join(folder.base, name);
  const old = await statsOf(target);
  if (old !== null && !old.isFile()) return { refused: `${quoted} is not a regular file. Write elsewhere.` };
  if (old !== null && (old.mode & 0o222) === 0)
    return { refused: `${quoted} is write-protected. Leave it, or ask the user.` };
  const known = seen === undefined ? null : await readSeenFile(target, join(folder.real, name));
  if (known !== null && known.mark !== seen) return { refused: CHANGED_SINCE };
  const expected = wanted.expected ?? (known === null ? undefined : versionOf(known.stats));
  if (expected !== undefined && !sameAs(expected, old))
    return { refused: `${quoted} was changed while it was being edited. Read it again, then edit.` };
  const temporary = join(folder.base, `.${name}.${wanted.unique}.tmp`);
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const handle = await open(temporary, flags, old === null ? NEW_FILE_MODE : 0o600);
  try {
    try {
      await handle.writeFile(content);
      if (old !== null) await keepRights(handle, old);
      await handle.sync();
    } finally {
      await handle.close();
    }
    const changed = expected !== undefined && !sameAs(expected, await statsOf(target));
    if (!signal.aborted && !changed) {
      await rename(temporary, target);
      return { relative: relativePath, before: old === null ? null : old.size };
    }
    await remove(temporary);
    if (signal.aborted) return { refused: STOPPED };
    return { refused: `${quoted} was changed while it was being edited. Read it again.` };
  } catch (error) {
    await remove(temporary);
    throw error;
  }
}

/** Why the change that the user allowed cannot be made; null if the file is as they saw it. */
export async function changedSince(workspace: Workspace, path: string, seen: string): Promise<Refusal | null> {
  const target = await writeTarget(workspace, path);
  if ("refused" in target) return target;
  const known = await readSeenFile(target.absolute, target.absolute).catch(() => null);
  return known?.mark === seen ? null : { refused: CHANGED_SINCE };
}

/** Null: the file must not exist. */
type Version = Replacement["expected"] | null;

function versionOf(stats: Stats | null): Version {
  return stats === null ? null : { inode: stats.ino, modifiedMs: stats.mtimeMs, size: stats.size };
}

function sameAs(expected: NonNullable<Version> | null, stats: Stats | null): boolean {
  if (expected === null) return stats === null;
  return stats?.ino === expected.inode && stats.mtimeMs === expected.modifiedMs && stats.size === expected.size;
}

/** Only root can keep another owner. A file that anyone else writes becomes theirs. */
async function keepRights(handle: FileHandle, old: Stats): Promise<void> {
  const { uid, gid } = await handle.stat();
  if (uid !== old.uid || gid !== old.gid) await handle.chown(old.uid, old.gid).catch(() => {});
  await handle.chmod(old.mode & 0o777);
}

async function statsOf(path: string): Promise<Stats | null> {
  try {
    return await lstat(path);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return null;
    throw error;
  }
}

async function remove(path: string): Promise<void> {
  await unlink(path).catch(() => {});
}
