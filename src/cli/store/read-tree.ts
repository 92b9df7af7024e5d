/** The picture of a tree as it was after some row, from the store alone. */

import type { Store } from "../../contracts/store.ts";
import type { TreeId } from "../../core/values/ids.ts";
import { storedRows } from "../../runtime/journals/replay-tree.ts";
import { readEvent } from "./read-event.ts";
import { foldEvent } from "../../view/fold-event.ts";
import { createTreeModel, type TreeModel } from "../../view/tree-model.ts";

export async function readTree(store: Store, tree: TreeId, through: number): Promise<TreeModel> {
  const model = createTreeModel();
  for await (const row of storedRows(store, tree, through)) foldEvent(model, readEvent(tree, row));
  return model;
}

/** The model that a definition of the tree was recorded with; undefined when it names none. */
export function recordedModel(model: TreeModel, definition: string | undefined): string | undefined {
  const root = model.agents.get(0)?.definition ?? "";
  return (model.definitions.get(definition ?? root) ?? model.definitions.get(root))?.model;
}
