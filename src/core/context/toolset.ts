/** The tools that a model sees. Children with the same tools share one list, which is made and hashed once. */

import { delegationToolsOf, reportsByTool, visibilityOf } from "../delegation/tools.ts";
import type { Sha256 } from "../journal/journal.ts";
import type { AgentState, TreeState } from "../state.ts";
import { delegationToolSpecs } from "../text/prompts/tool-specs.ts";
import type { DefinitionText } from "../values/definition.ts";
import type { Json } from "../values/json.ts";
import type { ToolSpec } from "../values/message.ts";

export interface Toolset {
  readonly specs: readonly ToolSpec[];
  readonly hash: string;
}

/**
 * The tools of its definition that the agent holds, and the delegation tools that it sees. `output`: its data's schema.
 */
export type ToolsetFor = (
  state: TreeState,
  agent: AgentState,
  text: DefinitionText,
  output: Json | undefined,
) => Toolset;

export function toolsetOf(specs: readonly ToolSpec[], sha256: Sha256): Toolset {
  return { specs, hash: sha256(JSON.stringify(specs)) };
}

export function createToolsetFor(sha256: Sha256): ToolsetFor {
  const known = new Map<string, Toolset>();
  return ({ settings, catalog }, agent, text, output) => {
    if (settings === null) return toolsetOf([], sha256);
    const { hash, tools } = agent.definition;
    const held = tools.map(({ name }) => name);
    const delegation = delegationToolsOf(agent, visibilityOf(settings, catalog));
    const byTool = reportsByTool(agent);
    const key = JSON.stringify([hash, held, delegation, byTool, output]);
    const same = known.get(key);
    if (same !== undefined) return same;
    const own = text.tools.filter(({ name }) => held.includes(name));
    const made = toolsetOf([...own, ...delegationToolSpecs(delegation, byTool, output)], sha256);
    known.set(key, made);
    return made;
  };
}
