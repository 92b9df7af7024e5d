/** Finds the file of a program, as a shell would, but never in a relative folder of PATH. */

import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { isAbsolute, join, resolve } from "node:path";

/** The absolute path, or null. A name with a slash is taken from `folder`. */
export async function findProgram(name: string, folder: string, path: string): Promise<string | null> {
  const places = name.includes("/")
    ? [resolve(folder, name)]
    : path.split(":").flatMap((place) => (isAbsolute(place) ? [join(place, name)] : []));
  for (const place of places) if (await canBeRun(place)) return place;
  return null;
}

async function canBeRun(place: string): Promise<boolean> {
  try {
    await access(place, constants.X_OK);
    return (await stat(place)).isFile();
  } catch {
    return false;
  }
}
