/** A committed step as people and programs follow it: a journal row, read. */

import type { Fact } from "../../core/event.ts";
import type { JournalRow } from "../../core/journal/journal.ts";
import type { Json } from "../../core/values/json.ts";
import { bodyRead, headRead } from "../../core/journal/row.ts";

/** One committed step, as facts. */
export interface TreeEvent {
  readonly tree: string;
  readonly seq: number;
  readonly at: number;
  /** Why the input changed nothing, or null. */
  readonly late: string | null;
  /** The input and what was decided because of it. */
  readonly facts: readonly Fact[];
  /** What models and people read of it; empty once it was erased. */
  readonly texts: readonly Json[];
}

export function treeEventOf(tree: string, row: JournalRow): TreeEvent {
  const { at, rejected: late, input, events = [] } = headRead(row.head);
  return {
    tree,
    seq: row.seq,
    at,
    late: late ?? null,
    facts: [input, ...events],
    texts: bodyRead(row.body).texts,
  };
}
