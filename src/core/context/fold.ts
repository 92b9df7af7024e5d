/** What the folding of facts into the contexts works with. */

import type { FactOf, FactType, Stamp, TextIndex } from "../event.ts";
import type { Sha256 } from "../journal/journal.ts";
import type { TreeState } from "../state.ts";
import type { DefinitionText } from "../values/definition.ts";
import type { AgentNumber } from "../values/ids.ts";
import { type Json, jsonObjectIs } from "../values/json.ts";
import { replyPartsOf } from "../values/message.ts";
import type { AgentContext, Contexts } from "./contexts.ts";
import type { ToolsetFor } from "./toolset.ts";

export interface Fold {
  readonly state: TreeState;
  readonly contexts: Contexts;
  readonly sha256: Sha256;
  readonly toolsetFor: ToolsetFor;
  /** The text of a definition, by its hash. */
  readonly definition: (hash: string) => DefinitionText;
  /** The arguments of the calls in this row's reply, by call; null until the first use. */
  calls: ReadonlyMap<string, Json> | null;
}

/** A text of the row, by its index. */
export type TextAt = (index: TextIndex) => Json | undefined;

/** What each fact does to the contexts, right after it was applied to the state. */
export type ContextHandlers = {
  readonly [Type in FactType]?: (fold: Fold, fact: FactOf<Type>, textAt: TextAt, stamp: Stamp) => void;
};

export function asText(value: Json | undefined): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? null);
}

export function contextOf({ contexts }: Fold, agent: AgentNumber | undefined): AgentContext | undefined {
  return agent === undefined ? undefined : contexts.agents.get(agent);
}

/** The arguments of a call in this row's reply. Without a call: those of a run that was asked for from outside. */
export function argumentsOf(
  fold: Fold,
  call: string | null | undefined,
  textAt: TextAt,
): { readonly [name: string]: Json } {
  if (call !== null && call !== undefined) fold.calls ??= inputsById(textAt(0));
  const input = call === null || call === undefined ? textAt(0) : fold.calls?.get(call);
  return jsonObjectIs(input) ? input : {};
}

/** If two calls have the same id, the first counts. */
function inputsById(reply: Json | undefined): ReadonlyMap<string, Json> {
  const inputs = new Map<string, Json>();
  for (const part of replyPartsOf(reply)) {
    if (part.type === "tool-call" && !inputs.has(part.id)) inputs.set(part.id, part.input);
  }
  return inputs;
}

export function summaryBytes({ state }: Fold): number {
  return state.settings?.limits.summaryBytes ?? 0;
}
