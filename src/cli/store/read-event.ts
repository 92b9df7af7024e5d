/** A row of the store, read; one that cannot be is damage with a name, not a bug. */

import type { JournalRow } from "../../core/journal/journal.ts";
import { ErrandError } from "../../errors.ts";
import { type TreeEvent, treeEventOf } from "../../view/tree-event.ts";

export function readEvent(tree: string, row: JournalRow): TreeEvent {
  try {
    return treeEventOf(tree, row);
  } catch (cause) {
    throw new ErrandError("store-corrupt", `Row ${row.seq} of tree ${tree} cannot be read`, {
      remedy: `See what is wrong with it: errand replay ${tree}`,
      cause,
    });
  }
}
