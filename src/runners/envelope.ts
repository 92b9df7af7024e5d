/**
 * The envelope for requests to children outside this process, and for their answers (rule F9).
 *
 * Invariants:
 *  1. `envelopeRead(envelopeWrite(e))` equals `e`. Any text gives an envelope or a problem, never an exception.
 *  2. Size and nesting are measured on the text before it is parsed, so that hostile text costs one pass over it.
 *  3. The published schema of a type is the enforced one. An envelope with an unknown field is refused.
 *  4. The version is checked first, so that a newer envelope is called newer and not malformed.
 */

import { type ArgumentSchema, argumentsProblem } from "../core/delegation/arguments.ts";
import { DELEGATION_TOOLS } from "../core/delegation/tools.ts";
import type { RunStatus } from "../core/journal/journal.ts";
import { type Json, jsonNestsDeeper, jsonObjectIs } from "../core/values/json.ts";
import type { ArtifactKind } from "../core/values/limits.ts";
import { utf8Length } from "../core/text/index.ts";

/** The version of the envelope format. */
export const ENVELOPE_VERSION = 1;

/** The most UTF-8 bytes of an envelope, by type. */
export const ENVELOPE_BYTES = {
  request: 1_048_576,
  result: 4_194_304,
  progress: 65_536,
  report: 4_194_304,
} as const satisfies Record<EnvelopeType, number>;

/** The most levels of arrays and objects, including the envelope itself. */
export const ENVELOPE_DEPTH = 128;

/** The kinds of envelopes. */
export type EnvelopeType = "request" | "result" | "progress" | "report";

interface Addressed<Type extends EnvelopeType> {
  readonly v: typeof ENVELOPE_VERSION;
  readonly type: Type;
  /** The run's id, in the request and in all of its answers. */
  readonly correlation_id: string;
}

/** What a child used. */
export interface EnvelopeUsage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  /** Whole micro-dollars; left out if the price is unknown. */
  readonly cost_micro_dollars?: number;
}

/** A piece of a report. */
export interface EnvelopeArtifact {
  readonly kind: ArtifactKind;
  /** JSON text for `json`. */
  readonly value: string;
}

/** To the child: its task. */
export interface RequestEnvelope extends Addressed<"request"> {
  readonly task: string;
  readonly context?: string;
  readonly files?: readonly string[];
  readonly limits: {
    readonly timeout_seconds: number;
    readonly max_iterations: number;
    readonly summary_bytes: number;
  };
  readonly output_schema?: { readonly [keyword: string]: Json };
}

/** From the child, once and last. */
export interface ResultEnvelope extends Addressed<"result"> {
  readonly status: RunStatus;
  readonly reason?: string;
  readonly summary: string;
  readonly artifacts: readonly EnvelopeArtifact[];
  readonly data?: Json;
  /** Left out if the child does not know it. */
  readonly usage?: EnvelopeUsage;
}

/** From the child, any number of times, for people who watch. It decides nothing. */
export interface ProgressEnvelope extends Addressed<"progress"> {
  readonly text: string;
  readonly iterations?: number;
  /** Until now. */
  readonly usage?: EnvelopeUsage;
}

/** From the child, any number of times before its result. The last report counts. */
export interface ReportEnvelope extends Addressed<"report"> {
  readonly text: string;
  readonly artifacts?: readonly EnvelopeArtifact[];
  readonly data?: Json;
}

/** A message between Errand and a child outside this process. */
export type Envelope = RequestEnvelope | ResultEnvelope | ProgressEnvelope | ReportEnvelope;

/** The problems of outside children and their envelopes. The codes are stable. */
export const ENVELOPE_PROBLEMS = {
  "envelope-json": "The text is not a valid envelope; the message names the field.",
  "envelope-version": "The envelope's version is missing or not supported.",
  "envelope-size": "The envelope has more bytes than its type may have.",
  "runner-died": "The process that ran the child ended before it gave a result.",
  "runner-unavailable": "The runner that the child needs is not available.",
} as const;

/** The codes of `ENVELOPE_PROBLEMS`. */
export type EnvelopeProblemCode = keyof typeof ENVELOPE_PROBLEMS;

/** Why a text is no envelope. */
export interface EnvelopeProblem {
  readonly problem: EnvelopeProblemCode;
  readonly message: string;
}

const { task, context, files } = DELEGATION_TOOLS.subagent.schema.properties;
/** Outside children get the schema as JSON. Only models write it as text. */
const output_schema = { type: "object", description: "JSON Schema of the data to return." } as const;
const { artifacts, text } = DELEGATION_TOOLS.send_agent_message.schema.properties;
const data = { description: "The typed result, where a schema was asked for." } as const;
const count = { type: "integer", minimum: 0 } as const;
const positive = { type: "integer", minimum: 1 } as const;
const limits = {
  type: "object",
  properties: { timeout_seconds: positive, max_iterations: positive, summary_bytes: positive },
  required: ["timeout_seconds", "max_iterations", "summary_bytes"],
  additionalProperties: false,
} as const satisfies ArgumentSchema;
const usage = {
  type: "object",
  properties: { input_tokens: count, output_tokens: count, cost_micro_dollars: count },
  required: ["input_tokens", "output_tokens"],
  additionalProperties: false,
} as const satisfies ArgumentSchema;

function addressed<Type extends EnvelopeType>(type: Type) {
  return {
    v: positive,
    type: { type: "string", enum: [type] },
    correlation_id: { type: "string", minLength: 1, maxLength: 64 },
  } as const;
}

/** Envelopes are written in the order of these properties. */
export const ENVELOPE_SCHEMAS = {
  request: {
    type: "object",
    properties: {
      ...addressed("request"),
      task,
      context,
      files,
      limits,
      output_schema,
    },
    required: ["v", "type", "correlation_id", "task", "limits"],
    additionalProperties: false,
  },
  result: {
    type: "object",
    properties: {
      ...addressed("result"),
      status: { type: "string", enum: ["ok", "error", "timeout", "cancelled", "interrupted"] },
      reason: { type: "string", minLength: 1, maxLength: 64 },
      summary: { type: "string" },
      artifacts,
      data,
      usage,
    },
    required: ["v", "type", "correlation_id", "status", "summary", "artifacts"],
    additionalProperties: false,
  },
  progress: {
    type: "object",
    properties: { ...addressed("progress"), text, iterations: count, usage },
    required: ["v", "type", "correlation_id", "text"],
    additionalProperties: false,
  },
  report: {
    type: "object",
    properties: { ...addressed("report"), text, artifacts, data },
    required: ["v", "type", "correlation_id", "text"],
    additionalProperties: false,
  },
} as const satisfies Record<EnvelopeType, ArgumentSchema>;

/** The envelope as one line of JSON. The sender checks it with `envelopeSizeProblem`. */
export function envelopeWrite(envelope: Envelope): string {
  const given = new Map<string, unknown>(Object.entries(envelope));
  const names = Object.keys(ENVELOPE_SCHEMAS[envelope.type].properties);
  return JSON.stringify(
    Object.fromEntries(names.filter((name) => given.has(name)).map((name) => [name, given.get(name)])),
  );
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
  const value = jsonRead(written);
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

/** Undefined if it is not JSON. A key `__proto__` becomes an ordinary field. */
function jsonRead(written: string): Json | undefined {
  try {
    return JSON.parse(written) as Json;
  } catch {
    return undefined;
  }
}
