/** A committed step of a tree, read from its journal row. */

import type { Decided, Fact, Input } from "../core/event.ts";
import type { JournalRow } from "../core/journal/journal.ts";
import type { Json } from "../core/values/json.ts";
import { bodyRead, headRead } from "../core/journal/row.ts";

/** One committed step, as facts. */
export interface TreeEvent {
  readonly tree: string;
  readonly seq: number;
  readonly at: number;
  /** Why the input was rejected and changed nothing, or null. */
  readonly rejected: string | null;
  /** The input and what was decided because of it. */
  readonly facts: readonly Fact[];
  /** What models and people read of it; empty once it was erased. */
  readonly texts: readonly Json[];
}

export function treeEventOf(tree: string, row: JournalRow): TreeEvent {
  const { at, rejected, input, events = [] } = headRead(row.head);
  return {
    tree,
    seq: row.seq,
    at,
    rejected: rejected ?? null,
    facts: [input, ...events],
    texts: bodyRead(row.body).texts,
  };
}

/** A fact of this type, as an event holds it. */
export type FactOf<Type extends Fact["type"]> = Extract<Input | Decided, { type: Type }>;

/** A text of an event; null if it was erased or never there. */
export function textAt(texts: TreeEvent["texts"], index: number | undefined): string | null {
  const text = index === undefined ? undefined : texts[index];
  return typeof text === "string" ? text : null;
}
