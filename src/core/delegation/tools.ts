/**
 * Which agents may see and call which delegation tool (rule A8), and the schemas that arguments are checked against.
 */

import type { AgentState } from "../state.ts";
import type { DefinitionFacts } from "../values/definition.ts";
import type { Settings } from "../values/limits.ts";
import type { ArgumentSchema } from "./arguments.ts";
import { DELEGATION_SCHEMAS, type DelegationTool, MESSAGE_CHECKED, REPORT_SCHEMA } from "./schemas.ts";

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

/** Rule A8, the table. Models see the tools in this order. */
const VISIBLE: { readonly [Tool in DelegationTool]: Visible } = {
  send_agent_message: () => true,
  send_user_message: ({ kind }) => kind === "background",
  subagent: mayDelegate,
  start_background_agent: mayDelegate,
  use_skill: (_agent, { skills }) => skills,
  list_runs: mayDelegate,
  read_result: (agent, visibility) => agent.hasCutResult || mayDelegate(agent, visibility),
  cancel_run: mayDelegate,
  steer_run: mayDelegate,
};

export function delegationToolIs(name: string): name is DelegationTool {
  return Object.hasOwn(VISIBLE, name);
}

export function delegationToolVisible(name: DelegationTool, agent: Viewer, visibility: Visibility): boolean {
  return VISIBLE[name](agent, visibility);
}

/** The tools that the agent sees. */
export function delegationToolsOf(agent: Viewer, visibility: Visibility): DelegationTool[] {
  return Object.keys(VISIBLE)
    .filter(delegationToolIs)
    .filter((name) => delegationToolVisible(name, agent, visibility));
}

/** True for a child that reports with `send_agent_message`. */
export function reportsByTool({ parent, definition }: Viewer): boolean {
  return parent !== null && definition.reporting === "tool";
}

/** The schema that arguments are checked against. */
export function delegationSchema(name: DelegationTool, agent: Viewer): ArgumentSchema {
  if (name !== "send_agent_message") return DELEGATION_SCHEMAS[name];
  return reportsByTool(agent) ? REPORT_SCHEMA : MESSAGE_CHECKED;
}
