/**
 * Reads the definition files of a folder.
 *
 * Invariants:
 *  1. Only regular files whose real path is inside the folder are read. A symlink that leads out is a problem.
 *  2. A file that the rules deny, by its name or its real path, is not read. If any path is denied, no file with
 *     several names is read.
 *  3. At most MAX_FILES names of a folder are read, and a limited part of each file.
 *  4. Nothing throws: a file that cannot be read is a problem. A missing file is null.
 */

import { constants } from "node:fs";
import { open, opendir, readlink, realpath } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import type { FileJudge } from "../core/permissions/permissions.ts";
import type { Problem } from "./fields.ts";

export interface FileText {
  readonly text: string;
  /** True if its path has a symlink. */
  readonly linked: boolean;
  /** True if the file is longer than the text. */
  readonly cut: boolean;
}

/** In one folder, and of all folders of a project or home. */
export const MAX_FILES = 200;
const DENIED = "the rules deny reading it";
const LEADS_OUT = "it is a symlink that leads out of its folder";

/** The names in a folder, sorted by code units; null if there is no such folder. */
export async function namesIn(
  root: string,
  folder: string,
): Promise<{ readonly names: readonly string[]; readonly more: boolean } | Problem | null> {
  const names: string[] = [];
  let more = false;
  try {
    const real = await realPathInside(root, folder);
    if (real === null) return { problem: LEADS_OUT, line: null };
    for await (const entry of await opendir(real)) {
      more = names.length >= MAX_FILES;
      if (more) break;
      names.push(entry.name);
    }
  } catch (error) {
    return problemOf(error);
  }
  return { names: names.toSorted((a, b) => (a < b ? -1 : 1)), more };
}

/** The first `bytes` of a text file; null if there is no such file. */
export async function readText(
  root: string,
  path: string,
  bytes: number,
  judge: FileJudge | null = null,
): Promise<FileText | Problem | null> {
  try {
    const real = await realPathInside(root, path);
    if (real === null) return { problem: LEADS_OUT, line: null };
    const linked = real !== join(await realpath(root), relative(root, path));
    const names = [relative(root, path), relative(await realpath(root), real)].map(judgedPath);
    if (names.some((name) => judge?.of(name, false) === "deny")) return { problem: DENIED, line: null };
    const handle = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const stats = await handle.stat();
      if (!stats.isFile()) return { problem: "it is not a regular file", line: null };
      if (judge !== null && stats.nlink > 1 && names.some((name) => judge.of(name, true) !== "allow"))
        return { problem: "it has more than one name, and rules deny some paths", line: null };
      if (process.platform === "linux" && (await readlink(`/proc/self/fd/${handle.fd}`)) !== real)
        return { problem: "it was replaced while it was being opened", line: null };
      const buffer = Buffer.alloc(bytes + 1);
      let length = 0;
      for (;;) {
        const { bytesRead } = await handle.read(buffer, length, buffer.length - length, length);
        length += bytesRead;
        if (bytesRead === 0 || length === buffer.length) break;
      }
      return decoded(buffer.subarray(0, Math.min(length, bytes)), length > bytes, linked);
    } finally {
      await handle.close();
    }
  } catch (error) {
    return problemOf(error);
  }
}

/** Rules compare paths with `/` in one Unicode form. */
function judgedPath(path: string): string {
  return path.split(sep).join("/").normalize("NFC");
}

/** Null if the path leads out of the folder. */
async function realPathInside(root: string, path: string): Promise<string | null> {
  const top = await realpath(root);
  const real = await realpath(path);
  return real.startsWith(top.endsWith(sep) ? top : top + sep) ? real : null;
}

/** Null if the file does not exist. */
function problemOf(error: unknown): Problem | null {
  const code = typeof error === "object" && error !== null && "code" in error ? String(error.code) : "unknown error";
  return code === "ENOENT" || code === "ENOTDIR" ? null : { problem: `it cannot be read (${code})`, line: null };
}

/** `path` has `/`. */
export function pathIn(root: string, path: string): string {
  return join(root, ...path.split("/"));
}

function decoded(bytes: Buffer, cut: boolean, linked: boolean): FileText | Problem {
  const nul = bytes.indexOf(0);
  if (nul >= 0) return { problem: "it holds a NUL byte, so it is not text", line: lineAt(bytes, nul) };
  try {
    // With `stream` a character that the cut splits is not an error.
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes, { stream: cut });
    return { text, cut, linked };
  } catch {
    return { problem: "it is not UTF-8", line: null };
  }
}

function lineAt(bytes: Buffer, position: number): number {
  return bytes.subarray(0, position).toString("latin1").split("\n").length;
}
