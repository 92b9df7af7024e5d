/**
 * The envelope for requests to children outside this process, and for their answers (rule F9).
 *
 * Invariants:
 *  1. `envelopeRead(envelopeWrite(e))` equals `e`. Any text gives an envelope or a problem, never an exception.
 *  2. Size and nesting are measured on the text before it is parsed, so that hostile text costs one pass over it.
 *  3. The published schema of a type is the enforced one. An envelope with an unknown field is refused.
 *  4. The version is checked first, so that a newer envelope is called newer and not malformed.
 */

import { argumentsProblem } from "../core/delegation/arguments.ts";
import { utf8Length } from "../core/text/index.ts";
import { type Json, jsonNestsDeeper, jsonObjectIs, jsonParsed } from "../core/values/json.ts";
import { ENVELOPE_BYTES, ENVELOPE_DEPTH, ENVELOPE_SCHEMAS } from "./envelope-schemas.ts";
import { type Envelope, ENVELOPE_VERSION, type EnvelopeType } from "./envelope-types.ts";

/** The problems of outside children and their envelopes. The codes are stable. */
export const ENVELOPE_PROBLEMS = {
  "envelope-json": "The text is not a valid envelope; the message names the field.",
  "envelope-version": "The envelope's version is missing or not supported.",
  "envelope-size": "The envelope has more bytes than its type may have.",
  "runner-died": "The process that ran the child ended before it gave a result.",
  "runner-unavailable": "The runner that the child needs is not available.",
  "runner-hung": "The child was silent for longer than its definition allows.",
} as const;

/** The codes of `ENVELOPE_PROBLEMS`. */
export type EnvelopeProblemCode = keyof typeof ENVELOPE_PROBLEMS;

/** Why a text is no envelope. */
export interface EnvelopeProblem {
  readonly problem: EnvelopeProblemCode;
  readonly message: string;
}

/** What some languages take for the end of a line, and JSON does not escape. */
const LINE_ENDS = /[\u0085\u2028\u2029]/g;

/** The envelope as one line of JSON. The sender checks it with `envelopeSizeProblem`. */
export function envelopeWrite(envelope: Envelope): string {
  const given = new Map<string, unknown>(Object.entries(envelope));
  const names = Object.keys(ENVELOPE_SCHEMAS[envelope.type].properties);
  const ordered = Object.fromEntries(names.filter((name) => given.has(name)).map((name) => [name, given.get(name)]));
  return JSON.stringify(ordered).replace(LINE_ENDS, (end) => `\\u${end.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** The problem of an envelope that is too large; null if it is not. */
export function envelopeSizeProblem(type: EnvelopeType, written: string): EnvelopeProblem | null {
  const most = ENVELOPE_BYTES[type];
  // A code unit takes at least one byte of UTF-8, so a text with too many code units need not be measured.
  const bytes = written.length > most ? written.length : utf8Length(written);
  if (bytes <= most) return null;
  return problem(
    "envelope-size",
    `an envelope of type ${type} has at most ${most} bytes; this one has ${bytes} or more`,
  );
}

/** Reads a text as an envelope. It never throws: a text that is none gives its problem. */
export function envelopeRead(written: string): Envelope | EnvelopeProblem {
  // Before parsing the type is unknown, so the largest limit applies. The type's own limit is checked below.
  const oversized = envelopeSizeProblem("result", written);
  if (oversized !== null) return oversized;
  if (jsonNestsDeeper(written, ENVELOPE_DEPTH)) {
    return problem(
      "envelope-json",
      `the envelope nests deeper than ${ENVELOPE_DEPTH} levels; flatten it or pass it as text`,
    );
  }
  const value = jsonParsed(written);
  if (!jsonObjectIs(value)) return problem("envelope-json", "an envelope is one JSON object");
  const version = ownField(value, "v");
  if (version !== ENVELOPE_VERSION) {
    const found = version === undefined ? "missing" : "not supported";
    return problem("envelope-version", `\`v\` is ${found}; the supported version is ${ENVELOPE_VERSION}`);
  }
  const type = ownField(value, "type");
  if (typeof type !== "string" || !envelopeTypeIs(type)) {
    return problem("envelope-json", `\`type\` must be one of ${Object.keys(ENVELOPE_SCHEMAS).join(", ")}`);
  }
  const tooLarge = envelopeSizeProblem(type, written);
  if (tooLarge !== null) return tooLarge;
  const misfit = argumentsProblem(ENVELOPE_SCHEMAS[type], value);
  return misfit === null ? (value as unknown as Envelope) : problem("envelope-json", misfit);
}

/** True if the text could not be read as an envelope. */
export function envelopeProblemIs(read: Envelope | EnvelopeProblem): read is EnvelopeProblem {
  return "problem" in read;
}

function problem(code: EnvelopeProblemCode, message: string): EnvelopeProblem {
  return { problem: code, message };
}

function envelopeTypeIs(type: string): type is EnvelopeType {
  return Object.hasOwn(ENVELOPE_SCHEMAS, type);
}

/** A field of the object itself, never an inherited one. */
function ownField(value: { readonly [name: string]: Json }, name: string): Json | undefined {
  return Object.hasOwn(value, name) ? value[name] : undefined;
}
