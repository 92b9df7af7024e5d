/**
 * Owns every write to a workspace: a new content for one regular file, all of it or nothing.
 *
 * Invariants:
 *  1. The file stands in a folder whose real path is inside the workspace. On Linux that folder is held open, so that swapping it for
 *     a symlink meanwhile changes nothing; missing folders are made one at a time, each beneath one that is held.
 *  2. Content goes to a new file beside, is made durable, and takes the name by a rename. Nobody sees half a content.
 *  3. Mode and owner of a file that was there are kept. A link, a folder, a pipe or a write-protected file is not replaced.
 *  4. `.errand` and `.git`, the records of Errand and of git, are not written to.
 *  5. A change that the user allowed is made only to the file that they saw.
 *  6. Nothing throws: a refusal is a sentence for the model that says what to do.
 */

import { constants } from "node:fs";
import type { Stats } from "node:fs";
import { lstat, mkdir, open, realpath, rename, unlink } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import type { Json } from "../core/values/json.ts";
import type { FileFacts } from "../core/permissions/permissions.ts";
import { CHANGED_SINCE, seeFile } from "./seen-file.ts";
import { errorCode, factsOf, openWorkspace, pathIsInside, pathShown } from "./workspace.ts";
import type { Place, Refusal, Workspace } from "./workspace.ts";

export interface Replacement {
  readonly path: string;
  readonly content: Buffer;
  /** Digits that no other file's name has. */
  readonly unique: string;
  readonly signal: AbortSignal;
  /** The file as it was when its content was read: it must still be that one. */
  readonly expected?: { readonly inode: number; readonly modifiedMs: number; readonly size: number };
  /** The mark of the file as the user saw it: it must still have that one (seen-file.ts). */
  readonly seen?: string | undefined;
}

export interface Replaced {
  readonly shown: string;
  /** Bytes of what was there before; null for a new file. */
  readonly before: number | null;
}

interface Folder {
  readonly handle: FileHandle;
  /** The folder's real path, as it was judged. */
  readonly real: string;
  /** A path that leads to this very folder as long as the handle is open. */
  readonly base: string;
}

const CLOSED_FOLDERS: ReadonlySet<string> = new Set([".errand", ".git"]);
const NAME_BYTES = 200;
const NEW_FILE_MODE = 0o666;

export async function replaceFile(workspace: Workspace, wanted: Replacement): Promise<Replaced | Refusal> {
  const target = await writeTarget(workspace, wanted.path);
  if ("refused" in target) return target;
  const refused = workspace.rulesRefuse(wanted.path, target.shown, target.linked);
  if (refused !== null) return refused;
  const closed = target.shown.split("/").find((name) => CLOSED_FOLDERS.has(name.toLowerCase()));
  if (closed !== undefined)
    return {
      refused: `"${pathShown(wanted.path)}" is in ${closed}, where other records are kept; it cannot be written.`,
    };
  if (Buffer.byteLength(basename(target.absolute)) > NAME_BYTES)
    return { refused: `the file's name is longer than ${NAME_BYTES} bytes. Give a shorter one.` };
  let folder: Folder | Refusal | null = null;
  try {
    folder = await openFolder(workspace.root, dirname(target.absolute));
    if ("refused" in folder) return folder;
    return await replaceIn(folder, basename(target.absolute), target.shown, wanted);
  } catch (error) {
    return {
      refused: `"${pathShown(wanted.path)}" cannot be written (${errorCode(error)}). Tell the user, or write elsewhere.`,
    };
  } finally {
    if (folder !== null && "handle" in folder) await folder.handle.close();
  }
}

/** Where a file that a call writes really is, or will be, for the rules. */
export async function locateTarget(path: Json | undefined, folder: string): Promise<FileFacts | null> {
  const workspace = await openWorkspace(folder);
  if ("refused" in workspace || typeof path !== "string") return null;
  const target = await writeTarget(workspace, path);
  return "refused" in target ? null : factsOf(workspace, path, target);
}

/** Where the file is, or will be: beneath the deepest folder of its path that is there. */
export async function writeTarget(
  workspace: Workspace,
  path: string,
): Promise<Pick<Place, "absolute" | "shown" | "linked"> | Refusal> {
  const whole = await workspace.find(path);
  if (!("refused" in whole)) {
    if (whole.kind === "file") return whole;
    return { refused: `"${pathShown(path)}" is a folder. Give the path of a file in it.` };
  }
  const wanted = resolve(workspace.root, path);
  if (path === "" || path.includes("\0") || path.endsWith("/") || !pathIsInside(workspace.root, wanted)) {
    return path.endsWith("/") ? { refused: `"${pathShown(path)}" names a folder. Give the path of a file.` } : whole;
  }
  // What is there and was refused stays refused: a symlink that leads out or nowhere, a pipe, an unreadable folder.
  if (await somethingIs(wanted)) return whole;
  let missing = basename(wanted);
  for (let above = dirname(wanted); pathIsInside(workspace.root, above); above = dirname(above)) {
    const place = await workspace.find(above);
    if (!("refused" in place)) {
      if (place.kind === "file")
        return { refused: `"${pathShown(place.shown)}" is a file, not a folder. Write elsewhere.` };
      const absolute = join(place.absolute, missing);
      return { absolute, shown: relative(workspace.root, absolute).split(sep).join("/"), linked: false };
    }
    if (await somethingIs(above)) return place;
    missing = join(basename(above), missing);
  }
  return whole;
}

async function somethingIs(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    return errorCode(error) !== "ENOENT" && errorCode(error) !== "ENOTDIR";
  }
}

/** Opens the folder, making what is missing of it; each folder is judged after it was opened. */
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
  shown: string,
  wanted: Replacement,
): Promise<Replaced | Refusal> {
  const { content, signal, seen } = wanted;
  const target = join(folder.base, name);
  const old = await statsOf(target);
  if (old !== null && !old.isFile())
    return { refused: `"${pathShown(shown)}" is not a regular file. Write elsewhere.` };
  if (old !== null && (old.mode & 0o222) === 0)
    return { refused: `"${pathShown(shown)}" is write-protected. Leave it, or ask the user.` };
  const known = seen === undefined ? null : await seeFile(target, join(folder.real, name));
  if (known !== null && known.mark !== seen) return { refused: CHANGED_SINCE };
  const expected = wanted.expected ?? (known === null ? undefined : versionOf(known.stats));
  if (expected !== undefined && !sameAs(expected, old))
    return { refused: `"${pathShown(shown)}" was changed while it was being edited. Read it again, then edit.` };
  const beside = join(folder.base, `.${name}.${wanted.unique}.tmp`);
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const handle = await open(beside, flags, old === null ? NEW_FILE_MODE : 0o600);
  try {
    try {
      await handle.writeFile(content);
      if (old !== null) await keepRights(handle, old);
      await handle.sync();
    } finally {
      await handle.close();
    }
    if (signal.aborted)
      return await dropped(beside, { refused: "the call was stopped before it was done. Nothing was changed." });
    if (expected !== undefined && !sameAs(expected, await statsOf(target)))
      return await dropped(beside, {
        refused: `"${pathShown(shown)}" was changed while it was being edited. Read it again.`,
      });
    await rename(beside, target);
  } catch (error) {
    await dropped(beside, null);
    throw error;
  }
  return { shown, before: old === null ? null : old.size };
}

/** Says why the change that the user allowed cannot be made any more; null if the file is as they saw it. */
export async function changedSince(workspace: Workspace, path: string, seen: string): Promise<Refusal | null> {
  const target = await writeTarget(workspace, path);
  if ("refused" in target) return target;
  const known = await seeFile(target.absolute, target.absolute).catch(() => null);
  return known?.mark === seen ? null : { refused: CHANGED_SINCE };
}

/** Null: there is none, and there must be none. */
type Version = Replacement["expected"] | null;

function versionOf(stats: Stats | null): Version {
  return stats === null ? null : { inode: stats.ino, modifiedMs: stats.mtimeMs, size: stats.size };
}

function sameAs(expected: NonNullable<Version> | null, stats: Stats | null): boolean {
  if (expected === null) return stats === null;
  return stats?.ino === expected.inode && stats.mtimeMs === expected.modifiedMs && stats.size === expected.size;
}

/** Only root may give a file to another owner; for everybody else it is theirs already, or becomes so. */
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

async function dropped<T>(path: string, result: T): Promise<T> {
  await unlink(path).catch(() => {});
  return result;
}
