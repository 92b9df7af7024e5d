/** Writing a step as a journal row, and reading it back. */

import type { Decided, Input } from "../event.ts";
import type { Decision, Step } from "../step.ts";
import type { JournalRow, Sha256 } from "./journal.ts";
import type { DefinitionFacts } from "../values/definition.ts";
import type { Json } from "../values/json.ts";
import { ROW_REVISION } from "./revision.ts";

/** The hash before the first row. */
export const CHAIN_START = "";

/** A row's head. */
export interface RowHead {
  readonly rev: string;
  readonly at: number;
  readonly seed?: string;
  readonly slots?: number;
  readonly input: Input;
  /** How many of the row's texts are the input's. */
  readonly texts?: number;
  /** Why the input changed nothing. */
  readonly rejected?: string;
  readonly events?: readonly Decided[];
  /** Hashes of the contexts that models were sent because of this step, in order. */
  readonly contexts?: readonly string[];
  /** Hash of the body, if there is one. */
  readonly body?: string;
}

/** `previous`: the hash of the row before. */
export function rowWrite(
  { seq, salt, previous }: { readonly seq: number; readonly salt: string; readonly previous: string },
  step: Step,
  decision: Decision,
  contexts: readonly string[],
  sha256: Sha256,
): JournalRow {
  const texts = decision.texts.length === 0 ? step.texts : [...step.texts, ...decision.texts];
  const body = texts.length === 0 ? null : JSON.stringify([salt, ...texts]);
  const written = {
    rev: ROW_REVISION,
    at: step.at,
    seed: decision.seedUsed ? step.seed : undefined,
    slots: decision.slotsUsed ? step.slots : undefined,
    input: step.input,
    texts: step.texts.length === 0 ? undefined : step.texts.length,
    rejected: decision.rejected ?? undefined,
    events: decision.events.length === 0 ? undefined : decision.events,
    contexts: contexts.length === 0 ? undefined : contexts,
    body: body === null ? undefined : sha256(body),
  } satisfies { [Key in keyof RowHead]-?: RowHead[Key] | undefined };
  const head = JSON.stringify(written);
  return { seq, head, body, hash: sha256(previous + head) };
}

export function headRead(text: string): RowHead {
  const head = JSON.parse(text) as RowHead & { readonly late?: string };
  // Revisions before 7 wrote `late`.
  return head.late === undefined ? head : { ...head, rejected: head.late };
}

/** The definitions that a row brings into its tree. */
export function definitionsOf(input: Input): readonly DefinitionFacts[] {
  if (input.type === "tree-opened") return input.catalog;
  if (input.type !== "catalog-changed" && input.type !== "tree-forked") return [];
  return input.root === undefined ? input.catalog : [...input.catalog, input.root];
}

/** The salt and the texts of a body. */
export function bodyRead(body: string | null): { readonly salt: string; readonly texts: readonly Json[] } {
  if (body === null) return { salt: "", texts: [] };
  const value = JSON.parse(body) as readonly Json[];
  const [salt, ...texts] = value;
  return { salt: typeof salt === "string" ? salt : "", texts };
}
