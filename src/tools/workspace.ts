/**
 * Owns the border of an agent's folder: every path a file tool touches passes here, and so does every file it opens.
 *
 * Invariants:
 *  1. A path is judged by its real path, after all symlinks, against the workspace's real path, by whole segments.
 *  2. Only regular files are opened, without waiting (a FIFO cannot hang a tool) and without following a last symlink.
 *  3. What was opened is what was judged: after opening, the path must still lead, inside, to the same inode.
 *  4. `.errand`, where Errand keeps its own records, is outside.
 *  5. Nothing throws: a refusal is a sentence for the model that says what to do.
 */

import { constants } from "node:fs";
import type { Stats } from "node:fs";
import { lstat, open, realpath } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { relative, resolve, sep } from "node:path";

export interface Refusal {
  readonly refused: string;
}

export interface Place {
  /** The real path. */
  readonly absolute: string;
  /** The path as tools show it: from the workspace, with `/`; `.` for the workspace itself. */
  readonly shown: string;
  readonly kind: "file" | "folder";
}

export interface OpenedFile {
  readonly handle: FileHandle;
  readonly shown: string;
  readonly size: number;
}

export interface Workspace {
  /** The workspace's real path. */
  readonly root: string;
  locate(path: string): Promise<Place | Refusal>;
  /** The caller closes the handle. */
  openFile(path: string): Promise<OpenedFile | Refusal>;
}

const PATH_LIMIT = 4096;
const RECORDS_FOLDER = ".errand";
/** Outputs of commands that were too long to be shown: the one place among the records that may be read. */
export const OUTPUT_FOLDER = `${RECORDS_FOLDER}/output`;
/** What `errorCode` says of an error that is not the operating system's. */
export const NO_CODE = "unknown error";

export async function openWorkspace(folder: string): Promise<Workspace | Refusal> {
  let root: string;
  try {
    root = await realpath(folder);
  } catch (error) {
    return {
      refused: `the workspace cannot be opened (${errorCode(error)}). Tell the user that the folder is gone or unreadable.`,
    };
  }

  async function judge(path: string): Promise<{ readonly place: Place; readonly stats: Stats } | Refusal> {
    if (path.length === 0)
      return {
        refused: '`path` is empty. Give a path inside the workspace, such as "src", or "." for the workspace itself.',
      };
    if (path.includes("\0")) return { refused: "`path` holds a NUL character. Write the path without it." };
    if (path.length > PATH_LIMIT)
      return { refused: `\`path\` is longer than ${PATH_LIMIT} characters. Give a shorter one.` };
    const wanted = resolve(root, path);
    if (!pathIsInside(root, wanted)) return outside(path);
    let absolute: string;
    let stats: Stats;
    try {
      absolute = await realpath(wanted);
      if (!pathIsInside(root, absolute)) return outside(path);
      stats = await lstat(absolute);
    } catch (error) {
      return { refused: sentenceFor(error, path) };
    }
    const shown = relative(root, absolute).split(sep).join("/") || ".";
    if (shown.split("/").includes(RECORDS_FOLDER) && !shown.startsWith(`${OUTPUT_FOLDER}/`)) {
      return {
        refused: `${quote(path)} is in ${RECORDS_FOLDER}, where Errand keeps its own records; it cannot be read. Look elsewhere.`,
      };
    }
    if (stats.isDirectory()) return { place: { absolute, shown, kind: "folder" }, stats };
    if (stats.isFile()) return { place: { absolute, shown, kind: "file" }, stats };
    return { refused: `${quote(path)} is ${kindOf(stats)}, not a regular file. Only regular files can be read.` };
  }

  return {
    root,
    async locate(path) {
      const judged = await judge(path);
      return "refused" in judged ? judged : judged.place;
    },
    async openFile(path) {
      const judged = await judge(path);
      if ("refused" in judged) return judged;
      const { absolute, shown, kind } = judged.place;
      if (kind === "folder") return { refused: `${quote(path)} is a folder. Use list_files to see what is in it.` };
      let handle: FileHandle;
      try {
        handle = await open(absolute, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
      } catch (error) {
        return { refused: sentenceFor(error, path) };
      }
      try {
        const opened = await handle.stat();
        const again = await judge(path);
        if (
          opened.isFile() &&
          !("refused" in again) &&
          again.stats.ino === opened.ino &&
          again.stats.dev === opened.dev
        ) {
          return { handle, shown, size: opened.size };
        }
        await handle.close();
        return { refused: `${quote(path)} was replaced while it was being opened. Try again.` };
      } catch (error) {
        await handle.close();
        return { refused: sentenceFor(error, path) };
      }
    },
  };
}

/** True if `path` is `root` or beneath it, by whole segments: `/ws-other` is not inside `/ws`. */
export function pathIsInside(root: string, path: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : root + sep);
}

/** A path as it can stand in a line of a result: a control character in a name cannot forge another line. */
export function pathShown(path: string): string {
  return path.replace(/[\p{Cc}\u2028\u2029]/gu, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}

/** The code of a failed operation, such as ENOENT. Errors of another realm count too, so `instanceof` would be wrong. */
export function errorCode(error: unknown): string {
  return typeof error === "object" && error !== null && "code" in error && typeof error.code === "string"
    ? error.code
    : NO_CODE;
}

function outside(path: string): Refusal {
  return {
    refused: `${quote(path)} leads out of the workspace. Give a path inside it, such as "src/index.ts"; symlinks that lead out are not followed.`,
  };
}

function sentenceFor(error: unknown, path: string): string {
  const code = errorCode(error);
  switch (code) {
    case "ENOENT":
    case "ENOTDIR":
      return `there is no ${quote(path)} in the workspace. Use list_files to see what there is.`;
    case "EACCES":
    case "EPERM":
      return `${quote(path)} may not be read (${code}). Go on without it.`;
    case "ELOOP":
      return `${quote(path)} is a symlink that leads nowhere (${code}). Name the file itself.`;
    default:
      return `${quote(path)} cannot be opened (${code}). Go on without it.`;
  }
}

function kindOf(stats: Stats): string {
  if (stats.isFIFO()) return "a pipe";
  if (stats.isSocket()) return "a socket";
  if (stats.isCharacterDevice() || stats.isBlockDevice()) return "a device";
  return "something else";
}

function quote(path: string): string {
  return `"${pathShown(path.length > 200 ? `${path.slice(0, 200)}…` : path)}"`;
}
