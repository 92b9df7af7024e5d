/** Finds the file of a program as a shell does, but never in a relative folder of PATH. */

import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { isAbsolute, join, resolve } from "node:path";

/** The absolute path, or null. A name with a slash is relative to `folder`. */
export async function findProgram(name: string, folder: string, path: string): Promise<string | null> {
  const candidates = name.includes("/")
    ? [resolve(folder, name)]
    : path.split(":").flatMap((entry) => (isAbsolute(entry) ? [join(entry, name)] : []));
  for (const candidate of candidates) if (await executableIs(candidate)) return candidate;
  return null;
}

async function executableIs(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
