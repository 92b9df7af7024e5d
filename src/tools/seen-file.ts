/**
 * Owns the mark of a file as a person saw it: a hash of its real path and its content, or of its path and that there was none. A change that was
 * allowed is made only if the file still has the mark that was shown with it.
 *
 * The mark of a file that is longer than READ_BYTES, which nobody is shown, is made from its size, inode and time.
 */

import { createHash } from "node:crypto";
import { constants } from "node:fs";
import type { Stats } from "node:fs";
import { open } from "node:fs/promises";
import { errorCode } from "./workspace.ts";

const READ_BYTES = 8 * 1024 * 1024;

export interface SeenFile {
  readonly mark: string;
  /** Null: there is no such file. */
  readonly stats: Stats | null;
  /** Null: there is none, or it is longer than is read. */
  readonly bytes: Buffer | null;
}

/** What the model is told of a change that was allowed for another content. */
export const CHANGED_SINCE =
  "the file changed since the change was shown to the user. Nothing was written. Read it again, then ask again.";

/** `path` opens the file whose real path is `absolute`. Rejects if it cannot be read. */
export async function seeFile(path: string, absolute: string): Promise<SeenFile> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    (error: unknown) => {
      if (errorCode(error) === "ENOENT" || errorCode(error) === "ENOTDIR") return null;
      throw error;
    },
  );
  if (handle === null) return { mark: markOf(absolute, "none"), stats: null, bytes: null };
  try {
    const stats = await handle.stat();
    if (!stats.isFile() || stats.size > READ_BYTES) {
      const { size, ino, mtimeMs } = stats;
      return { mark: markOf(absolute, `long ${size} ${ino} ${mtimeMs}`), stats, bytes: null };
    }
    const buffer = Buffer.alloc(stats.size);
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0);
    const bytes = buffer.subarray(0, bytesRead);
    return { mark: markOf(absolute, "file", bytes), stats, bytes };
  } finally {
    await handle.close();
  }
}

function markOf(absolute: string, kind: string, bytes?: Buffer): string {
  const hash = createHash("sha256").update(JSON.stringify([kind, absolute]));
  if (bytes !== undefined) hash.update("\0").update(bytes);
  return hash.digest("hex");
}
