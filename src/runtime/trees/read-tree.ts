/**
 * Reads a tree from the store: the newest usable snapshot, and the rows after it. Another process may write it
 * meanwhile.
 */

import type { Store, TreeRecord } from "../../contracts/store.ts";
import type { JournalRow } from "../../core/journal/journal.ts";
import { SNAPSHOT_REVISION } from "../../core/journal/revision.ts";
import { type Tree, treeFold, treeFromText, treeNew, type TreeSource } from "../../core/tree.ts";
import { ErrandError } from "../../errors.ts";
import type { DefinitionLibrary } from "../definitions/definition-library.ts";
import { storedRows } from "../journals/stored-rows.ts";

/** The tree at the end of its record, the snapshot that was used, and the length of the rows after it. */
export async function readTree(
  store: Store,
  record: TreeRecord,
  source: TreeSource,
  library: DefinitionLibrary,
): Promise<{
  readonly tree: Tree;
  readonly snapshotSeq: number;
  readonly snapshotLength: number;
  readonly rowsLength: number;
}> {
  const { id, nextSeq } = record;
  const snapshot = await store.snapshot(id);
  const usable =
    snapshot !== null && snapshot.revision === SNAPSHOT_REVISION && snapshot.seq < nextSeq ? snapshot : null;
  const tree = usable === null ? treeNew(source) : treeFromText(usable.text, source);
  let rowsLength = 0;
  await library.readFor(store, id, tree.state);
  for await (const row of storedRows(store, id, nextSeq - 1, tree.state.seq + 1)) {
    await library.readForRow(store, id, row);
    treeFold(tree, row);
    rowsLength += rowLength(row);
  }
  if (tree.state.seq + 1 !== nextSeq || tree.hash !== record.hash) {
    throw new ErrandError(
      "store-corrupt",
      `The journal of tree ${id} does not end as its record says (row ${tree.state.seq}).`,
      {
        remedy: `Find the damaged row with: errand replay ${id}`,
      },
    );
  }
  return { tree, snapshotSeq: usable?.seq ?? 0, snapshotLength: usable?.text.length ?? 0, rowsLength };
}

export function rowLength({ head, body }: JournalRow): number {
  return head.length + (body?.length ?? 0);
}
