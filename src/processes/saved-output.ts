/**
 * Saves an output that is too long to be kept in memory in a file.
 *
 * Invariants:
 *  1. The file is private, and holds the first MAX_BYTES of the stream. Below the base no symlink is followed.
 *  2. At most MAX_FILES stay. The oldest are removed first.
 *  3. Nothing throws: if the file cannot be written, `problem` says why.
 */

import { closeSync, constants, lstatSync, mkdirSync, openSync, readdirSync, unlinkSync, writeSync } from "node:fs";
import { join } from "node:path";

export interface SavedOutput {
  add(chunk: Buffer): void;
  /** The file's path from the base; null if there is no file. */
  readonly path: string | null;
  readonly problem: string | null;
  /** Bytes in the file. */
  readonly bytes: number;
  close(): void;
}

const MAX_BYTES = 16 * 1024 * 1024;
const MAX_FILES = 20;

export interface OutputFile {
  /** An absolute path. */
  readonly base: string;
  /** A path from the base. It is made where it is missing. */
  readonly folder: string;
  /** Later files must have a name that sorts later. */
  readonly name: string;
}

export function createSavedOutput({ base, folder: inside, name }: OutputFile): SavedOutput {
  let descriptor: number | null = null;
  let problem: string | null = null;
  let bytes = 0;

  function open(): number {
    let folder = base;
    for (const part of inside.split("/")) {
      folder = join(folder, part);
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      if (!lstatSync(folder).isDirectory()) throw Object.assign(new Error(folder), { code: "ENOTDIR" });
    }
    const older = readdirSync(folder).toSorted();
    for (const old of older.slice(0, Math.max(0, older.length - MAX_FILES + 1))) unlinkSync(join(folder, old));
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
    return openSync(join(folder, name), flags, 0o600);
  }

  return {
    add(chunk) {
      if (problem !== null || bytes === MAX_BYTES) return;
      try {
        descriptor ??= open();
        const part = chunk.subarray(0, MAX_BYTES - bytes);
        for (let done = 0; done < part.length;) done += writeSync(descriptor, part, done);
        bytes += part.length;
      } catch (error) {
        problem = error instanceof Error && "code" in error ? String(error.code) : String(error);
      }
    },
    get path() {
      return descriptor === null ? null : `${inside}/${name}`;
    },
    get problem() {
      return problem;
    },
    get bytes() {
      return bytes;
    },
    close() {
      if (descriptor !== null) closeSync(descriptor);
    },
  };
}
