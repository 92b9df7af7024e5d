/** The whole result of a tool call that was too long for its agent's context, read by its handle (rules A8, D7). */

import type { Store } from "../../contracts/store.ts";
import { resultHandleRow } from "../../core/text/prompts/cut-results.ts";
import { type AgentNumber, stepKeyRow, type StepKey, stepKey, type TreeId } from "../../core/values/ids.ts";
import { bodyRead, headRead } from "../../core/journal/row.ts";

/** `allowed` says whether the asking agent may read results of the agent that made the call. */
export async function callResult(
  store: Store,
  tree: TreeId,
  handle: string,
  allowed: (owner: AgentNumber) => Promise<boolean>,
): Promise<{ readonly whole: string } | "unknown" | "erased"> {
  const seq = resultHandleRow(handle);
  const [row] = seq === null ? [] : await store.rows(tree, seq, 1);
  if (row === undefined || row.seq !== seq) return "unknown";
  const { input, rejected } = headRead(row.head);
  if (rejected !== undefined || input.type !== "tool-finished" || input.whole === undefined) return "unknown";
  const owner = await callerOf(store, tree, input.effect);
  if (owner === null || !(await allowed(owner))) return "unknown";
  const whole = bodyRead(row.body).texts[1];
  return typeof whole === "string" ? { whole } : "erased";
}

/** The agent whose call an effect serves. */
async function callerOf(store: Store, tree: TreeId, effect: StepKey): Promise<AgentNumber | null> {
  const [row] = await store.rows(tree, stepKeyRow(effect), 1);
  if (row === undefined) return null;
  for (const event of headRead(row.head).events ?? []) {
    if (event.type === "tool-called" && stepKey(row.seq, event.n) === effect) return event.agent;
  }
  return null;
}
