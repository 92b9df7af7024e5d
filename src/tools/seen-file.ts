/**
 * The mark of a file that a person saw before they allowed a change: a hash of its real path and its content, or of its
 * path and the fact that there was no file. The change is made only if the file still has the mark.
 *
 * A file longer than READ_BYTES is not shown to anyone. Its mark is made from its size, inode and time.
 */

import { createHash } from "node:crypto";
import { constants } from "node:fs";
import type { Stats } from "node:fs";
import { open } from "node:fs/promises";
import { errorCode } from "./workspace.ts";

const READ_BYTES = 8 * 1024 * 1024;

export interface SeenFile {
  readonly mark: string;
  /** Null: the file does not exist. */
  readonly stats: Stats | null;
  /** Null: the file does not exist, or is longer than READ_BYTES. */
  readonly bytes: Buffer | null;
}

/** For the model, if the user allowed the change of another content. */
export const CHANGED_SINCE =
  "the file changed since the change was shown to the user. Nothing was written. Read it again, then ask again.";

/** `path` leads to the file, and `absolute` is its real path. Rejects if it cannot be read. */
export async function readSeenFile(path: string, absolute: string): Promise<SeenFile> {
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
