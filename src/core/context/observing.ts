/** What folding facts into the contexts works with. */

import type { DefinitionText } from "../definition.ts";
import type { Fact, TextIndex } from "../event.ts";
import type { Sha256 } from "../journal.ts";
import { type Json, jsonObjectIs } from "../json.ts";
import { replyPartsOf } from "../message.ts";
import type { TreeState } from "../state.ts";
import type { Contexts } from "./contexts.ts";

export interface Observing {
  readonly state: TreeState;
  readonly contexts: Contexts;
  readonly sha256: Sha256;
  /** The text of a definition, by its hash. */
  readonly definition: (hash: string) => DefinitionText;
}

/** A text of the row that is folded, by its index. */
export type TextAt = (index: TextIndex) => Json | undefined;
export type FactOf<Type extends Fact["type"]> = Extract<Fact, { type: Type }>;

export function asText(value: Json | undefined): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? null);
}

/** The arguments of a call of this row's reply. */
export function argumentsOf(call: string | null | undefined, textAt: TextAt): { readonly [name: string]: Json } {
  const first = textAt(0);
  if (call === null || call === undefined) return jsonObjectIs(first) ? first : {};
  const part = replyPartsOf(first).find((given) => given.type === "tool-call" && given.id === call);
  return part?.type === "tool-call" && jsonObjectIs(part.input) ? part.input : {};
}
