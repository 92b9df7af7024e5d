/** The schemas and sizes of the envelope, by type. They are enforced, and published as they stand. */

import type { ArgumentSchema } from "../core/delegation/arguments.ts";
import { DELEGATION_TOOLS } from "../core/delegation/tools.ts";
import type { EnvelopeType } from "./envelope-types.ts";

/** The most UTF-8 bytes of an envelope, by type. */
export const ENVELOPE_BYTES = {
  request: 1_048_576,
  result: 4_194_304,
  progress: 65_536,
  report: 4_194_304,
  question: 65_536,
  answer: 1_048_576,
  steer: 1_048_576,
  "report-accepted": 65_536,
  "report-refused": 1_048_576,
} as const satisfies Record<EnvelopeType, number>;

/** The most levels of arrays and objects, including the envelope itself. */
export const ENVELOPE_DEPTH = 128;

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
  properties: {
    input_tokens: count,
    output_tokens: count,
    cached_input_tokens: count,
    cost_micro_dollars: count,
  },
  required: ["input_tokens", "output_tokens"],
  additionalProperties: false,
} as const satisfies ArgumentSchema;

/** The id of a question. */
const id = { type: "string", minLength: 1, maxLength: 64 } as const;
const choices = { type: "array", maxItems: 20, items: { type: "string", minLength: 1, maxLength: 200 } } as const;
const words = { type: "string", minLength: 1, maxLength: 262_144 } as const;

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
      prompt: { type: "string", maxLength: 262_144 },
      workspace: { type: "string", minLength: 1, maxLength: 4_096 },
      attempt: positive,
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
    required: ["v", "type", "correlation_id"],
    additionalProperties: false,
  },
  report: {
    type: "object",
    properties: { ...addressed("report"), text, artifacts, data },
    required: ["v", "type", "correlation_id", "text"],
    additionalProperties: false,
  },
  question: {
    type: "object",
    properties: { ...addressed("question"), id, text, choices },
    required: ["v", "type", "correlation_id", "id", "text"],
    additionalProperties: false,
  },
  answer: {
    type: "object",
    properties: { ...addressed("answer"), question: id, text: { type: "string", maxLength: 262_144 } },
    required: ["v", "type", "correlation_id", "question"],
    additionalProperties: false,
  },
  steer: {
    type: "object",
    properties: { ...addressed("steer"), text: words },
    required: ["v", "type", "correlation_id", "text"],
    additionalProperties: false,
  },
  "report-accepted": {
    type: "object",
    properties: addressed("report-accepted"),
    required: ["v", "type", "correlation_id"],
    additionalProperties: false,
  },
  "report-refused": {
    type: "object",
    properties: { ...addressed("report-refused"), problem: words },
    required: ["v", "type", "correlation_id", "problem"],
    additionalProperties: false,
  },
} as const satisfies Record<EnvelopeType, ArgumentSchema>;
