/**
 * The store in the folder of a project: where the command line kept it before, and where a folder of somebody else
 * may ship one. It is never used by itself.
 */

import { lstatSync } from "node:fs";
import { join } from "node:path";

export const FORMER_STORE = ".errand/errand.db";

/** The store that stands in the folder of a project, or null. It is not opened. */
export function formerStore(project: string): string | null {
  const path = join(project, FORMER_STORE);
  return lstatSync(path, { throwIfNoEntry: false }) === undefined ? null : path;
}

export function formerText(): string {
  return (
    `this folder holds the store ${FORMER_STORE}, which is not used: stores are in your data folder now. ` +
    `Look into it with errand ps --all --store ${FORMER_STORE}; if it is yours, errand trust --store ${FORMER_STORE}`
  );
}
