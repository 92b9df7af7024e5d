/**
 * Keeps the whole of an output that is too long to be shown, in a file of the workspace that `read_file` can read.
 *
 * Invariants:
 *  1. The file stands in `.errand/output`, is private, and holds the first KEPT_BYTES of the stream. No symlink is followed on the way.
 *  2. At most KEPT_FILES stay; the oldest go first.
 *  3. Nothing throws: where the file cannot be written, `problem` says why, and the shown part is all there is.
 */

import { closeSync, constants, lstatSync, mkdirSync, openSync, readdirSync, unlinkSync, writeSync } from "node:fs";
import { join } from "node:path";
import { errorCode, OUTPUT_FOLDER } from "../workspace.ts";

export interface KeptOutput {
  add(chunk: Buffer): void;
  /** The file's path from the workspace; null while nothing had to be kept, or nothing could be. */
  readonly path: string | null;
  readonly problem: string | null;
  /** Bytes in the file. */
  readonly bytes: number;
  close(): void;
}

const KEPT_BYTES = 16 * 1024 * 1024;
const KEPT_FILES = 20;

/** `name` is that of the file; names that are made later sort later. */
export function createKeptOutput(workspace: string, name: string): KeptOutput {
  let descriptor: number | null = null;
  let problem: string | null = null;
  let bytes = 0;

  function open(): number {
    let folder = workspace;
    for (const part of OUTPUT_FOLDER.split("/")) {
      folder = join(folder, part);
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      if (!lstatSync(folder).isDirectory()) throw Object.assign(new Error(folder), { code: "ENOTDIR" });
    }
    const older = readdirSync(folder).toSorted();
    for (const old of older.slice(0, Math.max(0, older.length - KEPT_FILES + 1))) unlinkSync(join(folder, old));
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
    return openSync(join(folder, name), flags, 0o600);
  }

  return {
    add(chunk) {
      if (problem !== null || bytes === KEPT_BYTES) return;
      try {
        descriptor ??= open();
        const part = chunk.subarray(0, KEPT_BYTES - bytes);
        for (let done = 0; done < part.length;) done += writeSync(descriptor, part, done);
        bytes += part.length;
      } catch (error) {
        problem = errorCode(error);
      }
    },
    get path() {
      return descriptor === null ? null : `${OUTPUT_FOLDER}/${name}`;
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
