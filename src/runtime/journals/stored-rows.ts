/** Reads rows of the store. */

import type { Store } from "../../contracts/store.ts";
import type { JournalRow } from "../../core/journal/journal.ts";
import { definitionsOf, headRead } from "../../core/journal/row.ts";
import type { TreeId } from "../../core/values/ids.ts";

const ROWS_AT_A_TIME = 500;

/** The rows of a tree from one sequence through another. */
export async function* storedRows(
  store: Store,
  tree: TreeId,
  through = Number.MAX_SAFE_INTEGER,
  first = 1,
): AsyncGenerator<JournalRow, void, void> {
  for (let from = first; from <= through;) {
    const rows = await store.rows(tree, from, Math.min(ROWS_AT_A_TIME, through - from + 1));
    const last = rows.at(-1);
    if (last === undefined) return;
    // Not `yield*`: it awaits each row twice.
    for (const row of rows) yield row;
    from = last.seq + 1;
  }
}

/** Why the input of this row was rejected; null if it was not. */
export async function rejectionAt(store: Store, tree: TreeId, seq: number): Promise<string | null> {
  const [row] = await store.rows(tree, seq, 1);
  return row === undefined ? null : (headRead(row.head).rejected ?? null);
}

/** Hashes of the definitions that a row names. A row that cannot be read names none. */
export function definitionHashes(row: JournalRow): string[] {
  try {
    return definitionsOf(headRead(row.head).input).map(({ hash }) => hash);
  } catch {
    return [];
  }
}
