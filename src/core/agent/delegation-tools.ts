/**
 * The delegation tools: their names, what models are told of them, their schemas, and the one table that says which kind of agent
 * may see and call which. They are decided inside the kernel.
 *
 * Invariants:
 *  1. Every schema that a model is shown has a type for each property, and nothing that a provider refuses (rule F1).
 *  2. What a model is shown follows from what is enforced: bounds that models hardly ever reach and the ban on other properties are left out.
 */

import type { AgentKind } from "../event.ts";
import type { DefinitionFacts } from "../definition.ts";
import type { Json } from "../json.ts";
import type { Settings } from "../limits.ts";
import type { ToolSpec } from "../message.ts";
import { dataProperty } from "../runs/report-data.ts";
import type { ArgumentSchema, Property } from "./arguments.ts";

export type DelegationTool =
  | "send_agent_message"
  | "send_user_message"
  | "subagent"
  | "start_background_agent"
  | "use_skill"
  | "list_runs"
  | "read_result"
  | "cancel_run"
  | "steer_run";

const MAX_TEXT = 1_048_576;
const MAX_TASK = 262_144;

const text = { type: "string", minLength: 1, maxLength: MAX_TEXT } as const;
const runId = { type: "string", minLength: 1, maxLength: 64 } as const;

const artifact = {
  type: "object",
  properties: {
    kind: { type: "string", enum: ["note", "path", "diff", "json"] },
    value: { type: "string", maxLength: MAX_TEXT, description: "For json: JSON text." },
  },
  required: ["kind", "value"],
  additionalProperties: false,
} as const satisfies ArgumentSchema;

const message = {
  text,
  agentId: { type: "string", minLength: 1, maxLength: 64, description: "Default: your parent." },
} as const;

const taskProperties = {
  task: {
    type: "string",
    minLength: 1,
    maxLength: MAX_TASK,
    description: "All the child is told, with context and files.",
  },
  context: { type: "string", maxLength: MAX_TASK, description: "Facts the child needs." },
  files: {
    type: "array",
    maxItems: 100,
    items: { type: "string", minLength: 1, maxLength: 4_096 },
    description: "Paths worth reading.",
  },
  agent: { type: "string", minLength: 1, maxLength: 64, description: "Agent definition." },
  max_iterations: { type: "integer", minimum: 1 },
  timeout_seconds: { type: "integer", minimum: 1 },
} as const;

export const DELEGATION_SCHEMAS = {
  send_agent_message: {
    type: "object",
    properties: {
      ...message,
      artifacts: { type: "array", maxItems: 100, items: artifact },
      final: { type: "boolean", description: "true: this is your complete result, and your run ends." },
    },
    required: ["text"],
    additionalProperties: false,
  },
  send_user_message: { type: "object", properties: { text }, required: ["text"], additionalProperties: false },
  subagent: {
    type: "object",
    properties: {
      ...taskProperties,
      output_schema: {
        type: "string",
        minLength: 2,
        maxLength: MAX_TASK,
        description: "JSON Schema, as JSON text, of the data to return.",
      },
    },
    required: ["task"],
    additionalProperties: false,
  },
  start_background_agent: {
    type: "object",
    properties: {
      ...taskProperties,
      label: { type: "string", minLength: 1, maxLength: 200, description: "Short name for people." },
      model: { type: "string", minLength: 1, maxLength: 200 },
      cleanup: { type: "string", enum: ["keep", "delete"] },
      announce: { type: "string", enum: ["together", "each"] },
      group: { type: "string", minLength: 1, maxLength: 64, description: "Announced together." },
    },
    required: ["task"],
    additionalProperties: false,
  },
  use_skill: {
    type: "object",
    properties: {
      name: { type: "string", minLength: 1, maxLength: 64 },
      task: { type: "string", minLength: 1, maxLength: MAX_TASK, description: "What to use it for." },
    },
    required: ["name"],
    additionalProperties: false,
  },
  list_runs: {
    type: "object",
    properties: { state: { type: "string", enum: ["queued", "running", "waiting", "needs_input", "ended"] } },
    required: [],
    additionalProperties: false,
  },
  read_result: {
    type: "object",
    properties: { run_id: runId, offset: { type: "integer", minimum: 0 }, limit: { type: "integer", minimum: 1 } },
    required: ["run_id"],
    additionalProperties: false,
  },
  cancel_run: { type: "object", properties: { run_id: runId }, required: ["run_id"], additionalProperties: false },
  steer_run: {
    type: "object",
    properties: { run_id: runId, text },
    required: ["run_id", "text"],
    additionalProperties: false,
  },
} as const satisfies Record<DelegationTool, ArgumentSchema>;

/** `send_agent_message` of an agent that does not report with it: a root, or a child that reports by tag. */
const MESSAGE_SCHEMA = {
  type: "object",
  properties: message,
  required: ["text"],
  additionalProperties: false,
} as const satisfies ArgumentSchema;

/** What a run that is asked for from outside may say: as the background tool, and a schema for its data. */
export const SPAWN_SCHEMA = {
  ...DELEGATION_SCHEMAS.start_background_agent,
  properties: {
    ...DELEGATION_SCHEMAS.start_background_agent.properties,
    output_schema: DELEGATION_SCHEMAS.subagent.properties.output_schema,
  },
} as const satisfies ArgumentSchema;

const DESCRIPTIONS: Record<DelegationTool, string> = {
  send_agent_message: "Send text to your parent agent (default) or to another agent of your tree.",
  send_user_message: "Tell the user something; the agent that talks to the user passes it on.",
  subagent: "Give a task to a child agent and wait for its result.",
  start_background_agent: "Start a child agent and go on. You are told when it ends: do not poll.",
  use_skill: "Use one of the skills you were told of.",
  list_runs: "List the runs below you.",
  read_result: "Read a run's whole result in pieces (bytes).",
  cancel_run: "Cancel a run and all below it.",
  steer_run: "Send a message into a running child's turn.",
};

/** What of an agent decides which tools it sees. */
export interface Viewer {
  readonly kind: AgentKind;
  readonly depth: number;
  readonly definition: Pick<DefinitionFacts, "reporting">;
}

/** What of its tree does. */
export interface Visibility {
  readonly maxDepth: number;
  readonly skills: boolean;
}

/** What the agents of a tree can see. */
export function visibilityOf(settings: Settings, catalog: ReadonlyMap<string, DefinitionFacts>): Visibility {
  let skills = false;
  for (const definition of catalog.values()) if (definition.skill !== undefined) skills = true;
  return { maxDepth: settings.limits.maxDepth, skills };
}

function mayDelegate(agent: Viewer, { maxDepth }: Visibility): boolean {
  return agent.depth < maxDepth;
}

/** Rule A8, the table. */
const VISIBLE: Record<DelegationTool, (agent: Viewer, visibility: Visibility) => boolean> = {
  send_agent_message: () => true,
  send_user_message: (agent) => agent.kind === "background",
  subagent: mayDelegate,
  start_background_agent: mayDelegate,
  use_skill: (_agent, visibility) => visibility.skills,
  list_runs: mayDelegate,
  read_result: mayDelegate,
  cancel_run: mayDelegate,
  steer_run: mayDelegate,
};

export function delegationToolIs(name: string): name is DelegationTool {
  return Object.hasOwn(VISIBLE, name);
}

export function delegationToolVisible(name: DelegationTool, agent: Viewer, visibility: Visibility): boolean {
  return VISIBLE[name](agent, visibility);
}

/** True for a child that reports with `send_agent_message`. */
function reportsByTool({ depth, definition }: Viewer): boolean {
  return depth > 0 && definition.reporting === "tool";
}

/** Data are accepted though a model is shown them only with the schema of its run: those that nobody asked for are kept as an artifact. */
const REPORT_SCHEMA = {
  ...DELEGATION_SCHEMAS.send_agent_message,
  properties: {
    ...DELEGATION_SCHEMAS.send_agent_message.properties,
    data: { description: "Any JSON value." },
    data_json: text,
  },
} as const satisfies ArgumentSchema;

/** `final` is refused by the tool itself, with the reason. */
const MESSAGE_CHECKED = {
  ...MESSAGE_SCHEMA,
  properties: { ...message, final: { type: "boolean" } },
} as const satisfies ArgumentSchema;

/** What the arguments of a call are held against. */
export function delegationSchema(name: DelegationTool, agent: Viewer): ArgumentSchema {
  if (name !== "send_agent_message") return DELEGATION_SCHEMAS[name];
  return reportsByTool(agent) ? REPORT_SCHEMA : MESSAGE_CHECKED;
}

/** What a model of this agent is told about the delegation tools it has. `output` is the schema of its run's data, if there is one. */
export function delegationToolSpecs(agent: Viewer, visibility: Visibility, output: Json | undefined): ToolSpec[] {
  return Object.keys(VISIBLE)
    .filter(delegationToolIs)
    .filter((name) => delegationToolVisible(name, agent, visibility))
    .map((name) => ({ name, description: DESCRIPTIONS[name], schema: shownSchema(name, agent, output) }));
}

function shownSchema(name: DelegationTool, agent: Viewer, output: Json | undefined): Json {
  if (name !== "send_agent_message") return shown(DELEGATION_SCHEMAS[name]);
  if (!reportsByTool(agent)) return shown(MESSAGE_SCHEMA);
  const { type, properties, required } = DELEGATION_SCHEMAS.send_agent_message;
  const data = output === undefined ? {} : dataProperty(output);
  return { type, properties: { ...shownProperties(properties), ...data }, required };
}

/** Gemini's `parameters` refuse `additionalProperties`; models do not write empty texts, nor texts of a megabyte. */
function shown({ type, properties, required }: ArgumentSchema): { readonly [keyword: string]: Json } {
  return { type, properties: shownProperties(properties), ...(required.length === 0 ? {} : { required }) };
}

function shownProperties(properties: ArgumentSchema["properties"]): { readonly [name: string]: Json } {
  return Object.fromEntries(Object.entries(properties).map(([name, property]) => [name, shownProperty(property)]));
}

function shownProperty(property: Property | ArgumentSchema): Json {
  if ("properties" in property) return shown(property);
  const description = property.description === undefined ? {} : { description: property.description };
  switch (property.type) {
    case undefined:
      return description;
    case "array":
      return { type: property.type, items: shownProperty(property.items), ...description };
    case "string":
      return { type: property.type, ...(property.enum === undefined ? {} : { enum: property.enum }), ...description };
    default:
      return property;
  }
}
