/**
 * Writes a file that only its owner may read.
 *
 * Invariant: its name always leads to the old file or the complete new one. The new file is written
 * under another name, made durable and renamed.
 */

import { open, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { World } from "../../contracts/world.ts";
import { ErrandError } from "../../errors.ts";
import { fileThere, unusable } from "./file-lines.ts";

export interface Written {
  readonly lines: number;
  readonly bytes: number;
}

export async function writePrivateFile(path: string, lines: AsyncIterable<string>, world: World): Promise<Written> {
  fileThere(path);
  const beside = join(dirname(path), `.${basename(path)}.${world.random(8)}.tmp`);
  try {
    const file = await open(beside, "wx", 0o600);
    let count = 0;
    let bytes = 0;
    try {
      for await (const line of lines) {
        const text = `${line}\n`;
        await file.appendFile(text);
        bytes += Buffer.byteLength(text);
        count += 1;
      }
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(beside, path);
    return { lines: count, bytes };
  } catch (thrown) {
    await rm(beside, { force: true });
    throw thrown instanceof ErrandError ? thrown : unusable(path, "written", thrown);
  }
}
