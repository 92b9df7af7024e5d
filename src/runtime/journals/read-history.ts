/** The conversation of an agent, from the store alone. */

import type { Store } from "../../contracts/store.ts";
import { type HistoryItem, historyBegin } from "../../view/history.ts";
import type { Sha256 } from "../../core/journal/journal.ts";
import type { AgentNumber, TreeId } from "../../core/values/ids.ts";
import { definitionTexts } from "./replay-tree.ts";
import { storedRows } from "./stored-rows.ts";

export async function readHistory(
  store: Store,
  tree: TreeId,
  agent: AgentNumber,
  sha256: Sha256,
): Promise<readonly HistoryItem[]> {
  const { source, readFor } = definitionTexts((hash) => store.blob(tree, hash), sha256);
  const fold = historyBegin(agent, source);
  const items: HistoryItem[] = [];
  for await (const row of storedRows(store, tree)) {
    await readFor(row);
    items.push(...fold(row));
  }
  return items;
}
