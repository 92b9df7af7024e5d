/** A tree stays in the format that it was begun in, and forks of it too; one of a newer format is left alone. */

import type { TreeRecord } from "../../contracts/store.ts";
import { JOURNAL_FORMAT } from "../../core/journal/revision.ts";
import { ErrandError } from "../../errors.ts";

export function requireFormat({ id, format }: TreeRecord): void {
  if (format <= JOURNAL_FORMAT) return;
  throw new ErrandError(
    "store-too-new",
    `Tree ${id} was written by a newer version of Errand, in format ${format}; this one knows formats up to ${JOURNAL_FORMAT}.`,
    { remedy: "Update Errand.", details: { tree: id, format } },
  );
}
