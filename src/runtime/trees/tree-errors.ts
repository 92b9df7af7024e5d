/** Why a tree cannot be used. */

import type { Store, TreeRecord } from "../../contracts/store.ts";
import { JOURNAL_FORMAT } from "../../core/journal/revision.ts";
import { errorText, ErrandError } from "../../errors.ts";

/** A tree, and each fork of it, keeps the format it was created in. A tree of a newer format is not touched. */
export function requireFormat({ id, format }: TreeRecord): void {
  if (format <= JOURNAL_FORMAT) return;
  throw new ErrandError(
    "store-too-new",
    `Tree ${id} was written by a newer version of Errand, in format ${format}; ` +
      `this version knows formats up to ${JOURNAL_FORMAT}.`,
    { remedy: "Update Errand.", details: { tree: id, format } },
  );
}

export function treeUnknown(tree: string, store: Store): ErrandError {
  return new ErrandError("tree-unknown", `There is no tree ${tree} in ${store.description}.`);
}

export function treeExpired(tree: string): ErrandError {
  return new ErrandError(
    "tree-unknown",
    `Tree ${tree} has expired: its journal was deleted after the retention period.`,
  );
}

export function treeOwned(tree: string, why: string, remedy: string): ErrandError {
  return new ErrandError("tree-owned", `Tree ${tree} ${why}.`, { remedy, details: { tree } });
}

/** `cause`: the last failure, if this process saw it. */
export function treeQuarantined(tree: string, failures: number, cause?: unknown): ErrandError {
  const why = cause === undefined ? "" : ` (${errorText(cause).replace(/\.$/, "")})`;
  return new ErrandError("tree-quarantined", `Tree ${tree} is quarantined: it failed ${failures} times${why}.`, {
    remedy: `Look at its journal, then release it with: errand resume ${tree}`,
    cause,
    details: { tree },
  });
}

export function treeUnplaced(tree: string, reason: string): ErrandError {
  return new ErrandError("tree-unplaced", `This process cannot run tree ${tree}: ${reason}.`, {
    remedy:
      "Start a process that has it: install the tool, or give the model and its key. " +
      "The tree and its mail wait until then.",
    details: { tree, reason },
  });
}
