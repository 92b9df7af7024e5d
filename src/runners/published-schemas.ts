/**
 * The JSON Schemas that Errand publishes: input and output of the awaited `subagent` tool (rule F2), and the envelope
 * of outside children (rule F9). docs/reference/subagent.md and docs/reference/envelope.md show them, and tests compare
 * them.
 */

import { DELEGATION_TOOLS } from "../core/delegation/tools.ts";
import type { Json } from "../core/values/json.ts";
import { ENVELOPE_SCHEMAS } from "./envelope-schemas.ts";
import { ENVELOPE_VERSION, type EnvelopeType } from "./envelope-types.ts";

const DIALECT = "https://json-schema.org/draft/2020-12/schema";

/** The properties have the order of the payload. */
const output = {
  $schema: DIALECT,
  type: "object",
  properties: {
    success: { type: "boolean" },
    summary: { type: "string" },
    artifacts: DELEGATION_TOOLS.send_agent_message.schema.properties.artifacts,
    data: { description: "The typed result, where a schema was asked for." },
    error: { type: "string", minLength: 1 },
    reason: { type: "string", minLength: 1 },
    timed_out: { type: "boolean" },
    duration_ms: { type: "integer", minimum: 0 },
    run_id: { type: ["string", "null"] },
    report: { type: "string", enum: ["tool", "tag", "salvaged", "missing"] },
    nudged: { type: "boolean" },
    truncated: {
      type: "object",
      properties: {
        original_bytes: { type: "integer", minimum: 0 },
        kept_bytes: { type: "integer", minimum: 0 },
        sha256: { type: "string", minLength: 1 },
      },
      required: ["original_bytes", "kept_bytes", "sha256"],
      additionalProperties: false,
    },
  },
  required: ["success", "summary", "artifacts", "timed_out", "duration_ms", "run_id", "report", "nudged"],
  additionalProperties: false,
  oneOf: [
    { properties: { success: { const: true }, error: false, reason: false, timed_out: { const: false } } },
    { properties: { success: { const: false } }, required: ["error", "reason"] },
  ],
} as const satisfies Json;

/** The enforced schema of a type, with the version fixed. */
function envelopeOf(type: EnvelopeType): Json {
  const schema = ENVELOPE_SCHEMAS[type];
  return { ...schema, properties: { ...schema.properties, v: { const: ENVELOPE_VERSION } } };
}

/** JSON Schemas of the arguments and the result of the `subagent` tool, for other programs. */
export const SUBAGENT_SCHEMAS = {
  input: { $schema: DIALECT, ...DELEGATION_TOOLS.subagent.schema },
  output,
  envelope: {
    $schema: DIALECT,
    oneOf: [
      envelopeOf("request"),
      envelopeOf("result"),
      envelopeOf("progress"),
      envelopeOf("report"),
      envelopeOf("question"),
      envelopeOf("answer"),
      envelopeOf("steer"),
      envelopeOf("report-accepted"),
      envelopeOf("report-refused"),
    ],
  },
} as const satisfies Record<string, Json>;
