/** Which formats of journals a process of this version deals with, and which trees it may therefore run. */

import type { TreeRecord } from "../contracts/store.ts";
import { JOURNAL_FORMAT } from "../core/journal/revision.ts";

/** That of stores made before they kept the format of new trees. */
export const FIRST_FORMAT = 1;

/** In a statement: true for a tree of a format that this version knows. */
export const FORMAT_KNOWN = `format <= ${JOURNAL_FORMAT}`;

export function formatKnown({ format }: TreeRecord): boolean {
  return format <= JOURNAL_FORMAT;
}

/** False for a tree that no process of this version may become the writer of. */
export function claimable(tree: TreeRecord): boolean {
  return formatKnown(tree) && tree.status !== "arriving";
}
