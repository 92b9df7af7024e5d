/** What folding facts into the contexts works with. */

import type { DefinitionText } from "../definition.ts";
import type { Fact, TextIndex } from "../event.ts";
import type { Sha256 } from "../journal.ts";
import { type Json, jsonObjectIs } from "../json.ts";
import { replyPartsOf } from "../message.ts";
import type { TreeState } from "../state.ts";
import type { Contexts } from "./contexts.ts";
import type { ToolsetFor } from "./toolset.ts";

export interface Observing {
  readonly state: TreeState;
  readonly contexts: Contexts;
  readonly sha256: Sha256;
  readonly toolsetFor: ToolsetFor;
  /** The text of a definition, by its hash. */
  readonly definition: (hash: string) => DefinitionText;
  /** The calls of the reply of the row that is folded, by their ids; null until somebody asks for one. */
  calls: ReadonlyMap<string, Json> | null;
}

/** A text of the row that is folded, by its index. */
export type TextAt = (index: TextIndex) => Json | undefined;
export type FactOf<Type extends Fact["type"]> = Extract<Fact, { type: Type }>;

export function asText(value: Json | undefined): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? null);
}

/** The arguments of a call of this row's reply. A reply may hold a thousand calls: it is looked through once. */
export function argumentsOf(
  o: Observing,
  call: string | null | undefined,
  textAt: TextAt,
): { readonly [name: string]: Json } {
  if (call === null || call === undefined) {
    const first = textAt(0);
    return jsonObjectIs(first) ? first : {};
  }
  o.calls ??= inputsById(textAt(0));
  const input = o.calls.get(call);
  return jsonObjectIs(input) ? input : {};
}

/** Of two calls with one id the first counts. */
function inputsById(reply: Json | undefined): ReadonlyMap<string, Json> {
  const inputs = new Map<string, Json>();
  for (const part of replyPartsOf(reply)) {
    if (part.type === "tool-call" && !inputs.has(part.id)) inputs.set(part.id, part.input);
  }
  return inputs;
}
