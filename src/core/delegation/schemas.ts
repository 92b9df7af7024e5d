/** The arguments of the delegation tools, as they are checked. text/prompts/tool-specs.ts makes what models see. */

import type { ArgumentSchema } from "./arguments.ts";

/** Characters. */
const MAX_TEXT = 1_048_576;
const MAX_TASK = 262_144;
const MAX_NAME = 64;
const MAX_LABEL = 200;

function object<const Properties extends ArgumentSchema["properties"]>(
  properties: Properties,
  ...required: readonly (string & keyof Properties)[]
) {
  return { type: "object", properties, required, additionalProperties: false } as const;
}

function string(maxLength: number, more: { readonly minLength?: number; readonly description?: string } = {}) {
  return { type: "string", minLength: 1, maxLength, ...more } as const;
}

function oneOf<const Values extends readonly string[]>(...values: Values) {
  return { type: "string", enum: values } as const;
}

const atLeast = (minimum: number) => ({ type: "integer", minimum }) as const;
const described = (maxLength: number, description: string) => ({ type: "string", maxLength, description }) as const;

const text = string(MAX_TEXT);
const runId = string(MAX_NAME);
const range = { offset: atLeast(0), limit: atLeast(1) };
const artifact = object(
  { kind: oneOf("note", "path", "diff", "json"), value: described(MAX_TEXT, "For json: JSON text.") },
  "kind",
  "value",
);
const message = { text, agentId: string(MAX_NAME, { description: "Default: your parent." }) };
const task = {
  task: string(MAX_TASK, { description: "The child sees only this, context and files." }),
  context: described(MAX_TASK, "Facts the child needs."),
  files: { type: "array", maxItems: 100, items: string(4_096), description: "Paths worth reading." },
  agent: string(MAX_NAME, { description: "Name of its definition." }),
  max_iterations: atLeast(1),
  timeout_seconds: atLeast(1),
} as const;
const outputSchema = { minLength: 2, description: "JSON Schema, as JSON text, of the data to return." };
const background = {
  ...task,
  label: string(MAX_LABEL, { description: "Short display name." }),
  model: string(MAX_LABEL),
  cleanup: oneOf("keep", "delete"),
  announce: oneOf("together", "each"),
  group: string(MAX_NAME, { description: "Runs of one group are announced together." }),
};
const report = {
  ...message,
  artifacts: { type: "array", maxItems: 100, items: artifact },
  final: { type: "boolean", description: "true: this is your complete result, and your run ends." },
} as const;

export const DELEGATION_SCHEMAS = {
  send_agent_message: object(report, "text"),
  send_user_message: object({ text }, "text"),
  subagent: object({ ...task, output_schema: string(MAX_TASK, outputSchema) }, "task"),
  start_background_agent: object(background, "task"),
  use_skill: object({ name: string(MAX_NAME), task: string(MAX_TASK, { description: "What to use it for." }) }, "name"),
  list_runs: object({ state: oneOf("queued", "running", "waiting", "needs_input", "ended") }),
  read_result: object({ run_id: runId, call_id: runId, ...range }),
  cancel_run: object({ run_id: runId }, "run_id"),
  steer_run: object({ run_id: runId, text }, "run_id", "text"),
};

export type DelegationTool = keyof typeof DELEGATION_SCHEMAS;

/** `send_agent_message` of an agent that does not report with it: a root, or a child that reports by tag. */
export const MESSAGE_SCHEMA = object(message, "text");

/** The same schema as it is checked: it lets `final` pass, which the tool refuses with the reason. */
export const MESSAGE_CHECKED = object({ ...message, final: { type: "boolean" } }, "text");

/** A report may have data even if its run has no schema. They become an artifact. */
export const REPORT_SCHEMA = object({ ...report, data: { description: "Any JSON value." }, data_json: text }, "text");

/** `read_result` of an agent that has no runs. */
export const READ_CALL_SCHEMA = object({ call_id: runId, ...range }, "call_id");

/** A run that is asked for from outside: the arguments of the background tool, and a schema for its data. */
export const SPAWN_SCHEMA = object({ ...background, output_schema: string(MAX_TASK, outputSchema) }, "task");
