/** What is said to somebody who leaves a chat: what is kept, what was under way, and how to come back. */

import { countLabel } from "../../view/amounts.ts";
import { openRuns, treeIdle, type TreeModel } from "../../view/tree-model.ts";

export function leavingLines(model: TreeModel, store: string): string[] {
  if (model.tree === "") return [];
  if (store === "memory") return ["the conversation is gone, because the store was in memory"];
  const back = `the conversation is kept; come back with: errand chat ${model.tree}`;
  if (treeIdle(model)) return [back];
  const open = openRuns(model).length;
  const what = open === 0 ? "a turn" : countLabel(open, "run");
  const [was, waits] = open > 1 ? ["were", "wait"] : ["was", "waits"];
  return [`${what} ${was} under way and ${waits} in the store; errand resume goes on, and so does errand chat`, back];
}
