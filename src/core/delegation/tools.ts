/**
 * The delegation tools, in one table. dispatch.ts decides their calls; text/prompts/tool-specs.ts makes what models
 * see.
 */

import type { AgentState } from "../state.ts";
import type { DefinitionFacts } from "../values/definition.ts";
import type { Settings } from "../values/limits.ts";
import type { ArgumentSchema } from "./arguments.ts";

/** The facts of an agent that decide which tools it sees. */
export type Viewer = Pick<AgentState, "kind" | "parent" | "depth" | "hasCutResult"> & {
  readonly definition: Pick<DefinitionFacts, "reporting">;
};

/** The facts of its tree that decide it. */
export interface Visibility {
  readonly maxDepth: number;
  readonly skills: boolean;
}

export function visibilityOf(settings: Settings, catalog: ReadonlyMap<string, DefinitionFacts>): Visibility {
  const skills = [...catalog.values()].some(({ skill }) => skill !== undefined);
  return { maxDepth: settings.limits.maxDepth, skills };
}

type Visible = (agent: Viewer, visibility: Visibility) => boolean;
const mayDelegate: Visible = ({ depth }, { maxDepth }) => depth < maxDepth;

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

function tool<const Schema extends ArgumentSchema>(visible: Visible, description: string, schema: Schema) {
  return { visible, description, schema };
}

/**
 * Rule A8, the table: which agents see the tool, what models read about it, and its arguments as they are checked.
 * Models see the tools in this order.
 */
export const DELEGATION_TOOLS = {
  send_agent_message: tool(
    () => true,
    "Send text to your parent agent (default) or to another agent in your tree.",
    object(report, "text"),
  ),
  send_user_message: tool(
    ({ kind }) => kind === "background",
    "Send a message for the user. The agent that talks to the user presents it.",
    object({ text }, "text"),
  ),
  subagent: tool(
    mayDelegate,
    "Give a task to a child agent and wait for its result.",
    object({ ...task, output_schema: string(MAX_TASK, outputSchema) }, "task"),
  ),
  start_background_agent: tool(
    mayDelegate,
    "Start a child agent and continue. You get a message when it has ended: do not poll.",
    object(background, "task"),
  ),
  use_skill: tool(
    (_agent, { skills }) => skills,
    "Use a skill by its name.",
    object({ name: string(MAX_NAME), task: string(MAX_TASK, { description: "What to use it for." }) }, "name"),
  ),
  list_runs: tool(
    mayDelegate,
    "List the runs below you.",
    object({ state: oneOf("queued", "running", "waiting", "needs_input", "ended") }),
  ),
  read_result: tool(
    (agent, visibility) => agent.hasCutResult || mayDelegate(agent, visibility),
    "Read the whole result of a run, or of a tool call whose result was cut. offset and limit are in bytes.",
    object({ run_id: runId, call_id: runId, ...range }),
  ),
  cancel_run: tool(mayDelegate, "Cancel a run and all runs below it.", object({ run_id: runId }, "run_id")),
  steer_run: tool(
    mayDelegate,
    "Send a message to a running child, into its current turn.",
    object({ run_id: runId, text }, "run_id", "text"),
  ),
};

export type DelegationTool = keyof typeof DELEGATION_TOOLS;

/** `send_agent_message` of an agent that does not report with it: a root, or a child that reports by tag. */
export const MESSAGE_SCHEMA = object(message, "text");

/** The same schema as it is checked: it lets `final` pass, which the tool refuses with the reason. */
const MESSAGE_CHECKED = object({ ...message, final: { type: "boolean" } }, "text");

/** A report may have data even if its run has no schema. They become an artifact. */
export const REPORT_SCHEMA = object({ ...report, data: { description: "Any JSON value." }, data_json: text }, "text");

/** `read_result` of an agent that has no runs. */
export const READ_CALL_SCHEMA = object({ call_id: runId, ...range }, "call_id");

/** A run that is asked for from outside: the arguments of the background tool, and a schema for its data. */
export const SPAWN_SCHEMA = object({ ...background, output_schema: string(MAX_TASK, outputSchema) }, "task");

export function delegationToolIs(name: string): name is DelegationTool {
  return Object.hasOwn(DELEGATION_TOOLS, name);
}

/** The tools that the agent sees. */
export function delegationToolsOf(agent: Viewer, visibility: Visibility): DelegationTool[] {
  return Object.keys(DELEGATION_TOOLS)
    .filter(delegationToolIs)
    .filter((name) => DELEGATION_TOOLS[name].visible(agent, visibility));
}

/** True for a child that reports with `send_agent_message`. */
export function reportsByTool({ parent, definition }: Viewer): boolean {
  return parent !== null && definition.reporting === "tool";
}

/** The schema that arguments are checked against. */
export function delegationSchema(name: DelegationTool, agent: Viewer): ArgumentSchema {
  if (name !== "send_agent_message") return DELEGATION_TOOLS[name].schema;
  return reportsByTool(agent) ? REPORT_SCHEMA : MESSAGE_CHECKED;
}
