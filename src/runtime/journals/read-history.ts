/** The conversation of an agent, from the store alone. */

import type { Store } from "../../contracts/store.ts";
import type { DefinitionText } from "../../core/values/definition.ts";
import { type HistoryItem, historyBegin } from "../../view/history.ts";
import type { AgentNumber, TreeId } from "../../core/values/ids.ts";
import type { Sha256 } from "../../core/journal/journal.ts";
import { treeSource } from "../../core/tree.ts";
import { definitionHashes, storedRows } from "./replay-tree.ts";

const NO_DEFINITION: DefinitionText = { name: "", description: "", prompt: "", tools: [] };

export async function readHistory(
  store: Store,
  tree: TreeId,
  agent: AgentNumber,
  sha256: Sha256,
): Promise<readonly HistoryItem[]> {
  const texts = new Map<string, DefinitionText>();
  const fold = historyBegin(
    agent,
    treeSource(sha256, (hash) => texts.get(hash) ?? NO_DEFINITION),
  );
  const items: HistoryItem[] = [];
  for await (const row of storedRows(store, tree)) {
    for (const hash of definitionHashes(row)) {
      const text = texts.has(hash) ? null : await store.blob(tree, hash);
      if (text !== null) texts.set(hash, JSON.parse(text) as DefinitionText);
    }
    items.push(...fold(row));
  }
  return items;
}
