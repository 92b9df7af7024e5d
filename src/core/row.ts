/** Writing a step as a journal row, and reading it back. */

import type { Decision, Step } from "./deciding.ts";
import type { Decided, Input } from "./event.ts";
import type { JournalRow, Sha256 } from "./journal.ts";
import type { Json } from "./json.ts";
import { ROW_REVISION } from "./revision.ts";

/** The hash before the first row. */
export const CHAIN_START = "";

/** A row's head, read. The order of the keys is the order in which they are written. */
export interface RowHead {
  readonly rev: string;
  readonly at: number;
  readonly seed?: string;
  readonly slots?: number;
  readonly input: Input;
  /** How many of the row's texts belong to the input. */
  readonly texts?: number;
  /** Why the input changed nothing. */
  readonly late?: string;
  readonly events?: readonly Decided[];
  /** Hashes of the contexts that models were sent because of this step, in order. */
  readonly contexts?: readonly string[];
  /** Hash of the body, if there is one. */
  readonly body?: string;
}

export interface RowSource {
  readonly step: Step;
  readonly decision: Decision;
  readonly contexts: readonly string[];
}

/** The head as it would be written for a step, and the body, given its salt. */
function rowParts(
  source: RowSource,
  salt: string,
  sha256: Sha256,
): { readonly head: string; readonly body: string | null } {
  const { step, decision, contexts } = source;
  const texts = decision.texts.length === 0 ? step.texts : [...step.texts, ...decision.texts];
  const body = texts.length === 0 ? null : JSON.stringify([salt, ...texts]);
  // A member that is undefined is not written: one shape for all rows is what makes this quick.
  const head = {
    rev: ROW_REVISION,
    at: step.at,
    seed: decision.seedUsed ? step.seed : undefined,
    slots: decision.slotsUsed ? step.slots : undefined,
    input: step.input,
    texts: step.texts.length === 0 ? undefined : step.texts.length,
    late: decision.late ?? undefined,
    events: decision.events.length === 0 ? undefined : decision.events,
    contexts: contexts.length === 0 ? undefined : contexts,
    body: body === null ? undefined : sha256(body),
  } satisfies { [Key in keyof RowHead]-?: RowHead[Key] | undefined };
  return { head: JSON.stringify(head), body };
}

export function rowWrite(seq: number, source: RowSource, salt: string, previous: string, sha256: Sha256): JournalRow {
  const { head, body } = rowParts(source, salt, sha256);
  return { seq, head, body, hash: sha256(previous + head) };
}

export function headRead(text: string): RowHead {
  return JSON.parse(text) as RowHead;
}

/** What stands before the type of the input is shorter than this. */
const BEFORE_INPUT = 200;
const NAMES_DEFINITIONS = /"input":\{"type":"(?:tree-opened|catalog-changed|tree-forked)"/;

/** Whether the row brings definitions, told from its text: nearly all do not, and need not be read for it. */
export function headNamesDefinitions(text: string): boolean {
  return NAMES_DEFINITIONS.test(text.slice(0, BEFORE_INPUT));
}

/** The salt and the texts of a body. */
export function bodyRead(body: string | null): { readonly salt: string; readonly texts: readonly Json[] } {
  if (body === null) return { salt: "", texts: [] };
  const value = JSON.parse(body) as readonly Json[];
  const [salt, ...texts] = value;
  return { salt: typeof salt === "string" ? salt : "", texts };
}
