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

/** What a step is decided from: a head without what was decided. */
export type HeadGiven = Omit<RowHead, "events" | "contexts">;

const DECIDED = ',"events":[';
/** The hash of the body at the end of a head, whose last member it is. */
const BODY = /,"body":"[A-Za-z0-9_-]{43}"\}$/;
const BODY_LENGTH = ',"body":"'.length + 43 + '"}'.length;

/**
 * A head without its events and contexts, which are most of it. They stand at its end, before the body's hash. No quote in a text is without a backslash, so what looks like
 * their beginning is one, or the member of an input; then what stands before it is not whole, with the end of the head put behind it.
 */
export function headGivenRead(text: string): HeadGiven {
  const decided = text.indexOf(DECIDED);
  const end = text.slice(-BODY_LENGTH);
  const named = BODY.test(end);
  if (decided === -1 || !(named || end.endsWith("]}"))) return headRead(text);
  try {
    return JSON.parse(text.slice(0, decided) + (named ? end : "}")) as HeadGiven;
  } catch {
    return headRead(text);
  }
}

const INPUT = '"input":{"type":"';
const NAME_DEFINITIONS = ["tree-opened", "tree-forked", "catalog-changed"];

/** Whether the row brings definitions, told from its text: nearly all do not, and need not be read for it. */
export function headNamesDefinitions(text: string): boolean {
  const type = text.indexOf(INPUT) + INPUT.length;
  return NAME_DEFINITIONS.some((name) => text.startsWith(name, type) && text[type + name.length] === '"');
}

/** The salt and the texts of a body. */
export function bodyRead(body: string | null): { readonly salt: string; readonly texts: readonly Json[] } {
  if (body === null) return { salt: "", texts: [] };
  const value = JSON.parse(body) as readonly Json[];
  const [salt, ...texts] = value;
  return { salt: typeof salt === "string" ? salt : "", texts };
}
