/** The journal formats that this version knows, and which trees it may therefore run. */

import type { TreeRecord } from "../contracts/store.ts";
import { JOURNAL_FORMAT } from "../core/journal/revision.ts";

/** The format of stores that do not record one. */
export const FIRST_FORMAT = 1;

/** A condition in SQL: this version knows the format of the tree. */
export const FORMAT_KNOWN = `format <= ${JOURNAL_FORMAT}`;

export function formatKnown({ format }: TreeRecord): boolean {
  return format <= JOURNAL_FORMAT;
}

/** True if a process of this version may become the writer of the tree. */
export function claimable(tree: TreeRecord): boolean {
  return formatKnown(tree) && tree.status !== "arriving";
}
