/** The tools that a model is told of. All children of one definition have the same, which are put together and hashed once. */

import { delegationToolSpecs, visibilityOf } from "../agent/delegation-tools.ts";
import type { Sha256 } from "../journal.ts";
import type { Json } from "../json.ts";
import type { ToolSpec } from "../message.ts";
import type { AgentState, TreeState } from "../state.ts";
import type { DefinitionText } from "../definition.ts";

export interface Toolset {
  readonly specs: readonly ToolSpec[];
  readonly hash: string;
}

/** The tools of an agent: those of its definition that it holds, and the delegation tools that it sees. `output` is the schema of its data. */
export type ToolsetFor = (
  state: TreeState,
  agent: AgentState,
  text: DefinitionText,
  output: Json | undefined,
) => Toolset;

export function toolsetOf(specs: readonly ToolSpec[], sha256: Sha256): Toolset {
  return { specs, hash: sha256(JSON.stringify(specs)) };
}

/** Puts each toolset together once. */
export function createToolsetFor(sha256: Sha256): ToolsetFor {
  const known = new Map<string, Toolset>();
  return ({ settings, catalog }, agent, text, output) => {
    if (settings === null) return toolsetOf([], sha256);
    const visibility = visibilityOf(settings, catalog);
    const { hash, tools, reporting } = agent.definition;
    const seen = `${agent.kind} ${agent.depth > 0} ${agent.depth < visibility.maxDepth} ${visibility.skills}`;
    let key = `${hash} ${reporting} ${seen} ${JSON.stringify(output)}`;
    for (const tool of tools) key += ` ${JSON.stringify(tool.name)}`;
    const same = known.get(key);
    if (same !== undefined) return same;
    const held = new Set(tools.map((tool) => tool.name));
    const own = text.tools.filter((tool) => held.has(tool.name));
    const made = toolsetOf([...own, ...delegationToolSpecs(agent, visibility, output)], sha256);
    known.set(key, made);
    return made;
  };
}
