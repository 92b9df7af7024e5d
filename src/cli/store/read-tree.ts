/** Reads events and the readable model of a tree from its store alone. */

import type { Store } from "../../contracts/store.ts";
import type { JournalRow } from "../../core/journal/journal.ts";
import type { TreeId } from "../../core/values/ids.ts";
import { ErrandError } from "../../errors.ts";
import { storedRows } from "../../runtime/journals/stored-rows.ts";
import { foldEvent } from "../../view/fold-event.ts";
import { type TreeEvent, treeEventOf } from "../../view/tree-event.ts";
import { createTreeModel, type TreeModel } from "../../view/tree-model.ts";

/** A row that cannot be read is damage of the store, not a bug. */
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

/** The tree as it was after row `through`. */
export async function readTree(store: Store, tree: TreeId, through: number): Promise<TreeModel> {
  const model = createTreeModel();
  for await (const row of storedRows(store, tree, through)) foldEvent(model, readEvent(tree, row));
  return model;
}

/**
 * The model that a definition of the tree was recorded with: the root's if the definition has none, undefined if
 * neither has.
 */
export function recordedModel(model: TreeModel, definition: string | undefined): string | undefined {
  const root = model.agents.get(0)?.definition ?? "";
  return (model.definitions.get(definition ?? root) ?? model.definitions.get(root))?.model;
}
