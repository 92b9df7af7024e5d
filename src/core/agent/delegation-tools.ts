/**
 * The delegation tools: their names, what models are told of them, their schemas, and the one table that says which kind of agent
 * may see and call which. They are decided inside the kernel.
 */

import type { AgentKind } from "../event.ts";
import type { DefinitionFacts } from "../definition.ts";
import type { Settings } from "../limits.ts";
import type { ToolSpec } from "../message.ts";
import type { ArgumentSchema } from "./arguments.ts";

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
    value: { description: "The artifact." },
  },
  required: ["kind", "value"],
  additionalProperties: false,
} as const satisfies ArgumentSchema;

const taskProperties = {
  task: {
    type: "string",
    minLength: 1,
    maxLength: MAX_TASK,
    description: "What to do. The child sees nothing else of this conversation.",
  },
  context: { type: "string", maxLength: MAX_TASK, description: "Facts the child needs." },
  files: {
    type: "array",
    maxItems: 100,
    items: { type: "string", minLength: 1, maxLength: 4_096 },
    description: "Paths worth reading.",
  },
  agent: { type: "string", minLength: 1, maxLength: 64, description: "Name of an agent definition." },
  max_iterations: { type: "integer", minimum: 1 },
  timeout_seconds: { type: "integer", minimum: 1 },
} as const;

export const DELEGATION_SCHEMAS = {
  send_agent_message: {
    type: "object",
    properties: {
      text,
      agentId: { type: "string", minLength: 1, maxLength: 64, description: "Default: your parent." },
      artifacts: { type: "array", maxItems: 100, items: artifact },
      data: { description: "The result, where a schema was asked for." },
    },
    required: ["text"],
    additionalProperties: false,
  },
  send_user_message: { type: "object", properties: { text }, required: ["text"], additionalProperties: false },
  subagent: {
    type: "object",
    properties: {
      ...taskProperties,
      output_schema: { type: "object", description: "JSON Schema of the result's data." },
    },
    required: ["task"],
    additionalProperties: false,
  },
  start_background_agent: {
    type: "object",
    properties: {
      ...taskProperties,
      // An empty task is refused by the gate of all runs, in the shape of this tool's answers.
      task: {
        type: "string",
        maxLength: MAX_TASK,
        description: "What to do. The child sees nothing else of this conversation.",
      },
      label: { type: "string", minLength: 1, maxLength: 200, description: "A short name for people." },
      model: { type: "string", minLength: 1, maxLength: 200 },
      cleanup: { type: "string", enum: ["keep", "delete"] },
      announce: { type: "string", enum: ["together", "each"] },
      group: { type: "string", minLength: 1, maxLength: 64, description: "Runs of one group are announced together." },
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
  start_background_agent:
    "Start a child agent that works while you go on. You will be told when it has ended: do not poll.",
  use_skill: "Use one of the skills you were told of.",
  list_runs: "List the runs below you.",
  read_result: "Read the whole result of a run, piece by piece (offset and limit in bytes).",
  cancel_run: "Cancel a run and everything below it.",
  steer_run: "Send a message into a running child's turn.",
};

interface Seer {
  readonly kind: AgentKind;
  readonly depth: number;
}

/** What decides, besides the agent itself, which tools it sees. */
export interface Sight {
  readonly maxDepth: number;
  readonly skills: boolean;
}

/** What the agents of a tree can see. */
export function sightOf(settings: Settings, catalog: ReadonlyMap<string, DefinitionFacts>): Sight {
  let skills = false;
  for (const definition of catalog.values()) if (definition.skill !== undefined) skills = true;
  return { maxDepth: settings.limits.maxDepth, skills };
}

/** Rule A8, the table. */
const VISIBLE: Record<DelegationTool, (agent: Seer, sight: Sight) => boolean> = {
  send_agent_message: () => true,
  send_user_message: (agent) => agent.kind === "background",
  subagent: (agent, sight) => agent.depth < sight.maxDepth,
  start_background_agent: (agent, sight) => agent.depth < sight.maxDepth,
  use_skill: (_agent, sight) => sight.skills,
  list_runs: () => true,
  read_result: () => true,
  cancel_run: () => true,
  steer_run: () => true,
};

export function delegationToolIs(name: string): name is DelegationTool {
  return Object.hasOwn(VISIBLE, name);
}

export function delegationToolVisible(name: DelegationTool, agent: Seer, sight: Sight): boolean {
  return VISIBLE[name](agent, sight);
}

const SPECS: readonly (ToolSpec & { readonly name: DelegationTool })[] = Object.keys(VISIBLE)
  .filter(delegationToolIs)
  .map((name) => ({ name, description: DESCRIPTIONS[name], schema: DELEGATION_SCHEMAS[name] }));

/** What a model of this agent is told about the delegation tools it has. */
export function delegationToolSpecs(agent: Seer, sight: Sight): ToolSpec[] {
  return SPECS.filter((spec) => delegationToolVisible(spec.name, agent, sight));
}
