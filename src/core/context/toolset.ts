/** The tools that a model is told of. All children of one definition have the same, which are put together, named and hashed once. */

import { delegationToolSpecs, sightOf } from "../agent/delegation-tools.ts";
import type { Sha256 } from "../journal.ts";
import type { ToolSpec } from "../message.ts";
import type { AgentState, TreeState } from "../state.ts";
import type { DefinitionText } from "../definition.ts";

export interface Toolset {
  readonly specs: readonly ToolSpec[];
  /** Their names, as a prompt lists them. */
  readonly names: string;
  readonly hash: string;
}

/** The tools of an agent: those of its definition that it holds, and the delegation tools that it sees. */
export type ToolsetFor = (state: TreeState, agent: AgentState, text: DefinitionText) => Toolset;

export function toolsetOf(specs: readonly ToolSpec[], sha256: Sha256): Toolset {
  return { specs, names: specs.map((spec) => spec.name).join(", "), hash: sha256(JSON.stringify(specs)) };
}

/** Puts each toolset together once. */
export function createToolsetFor(sha256: Sha256): ToolsetFor {
  const known = new Map<string, Toolset>();
  return ({ settings, catalog }, agent, text) => {
    if (settings === null) return toolsetOf([], sha256);
    const sight = sightOf(settings, catalog);
    const { hash, tools } = agent.definition;
    let key = `${hash} ${agent.kind} ${agent.depth < sight.maxDepth} ${sight.skills}`;
    for (const tool of tools) key += ` ${JSON.stringify(tool.name)}`;
    const same = known.get(key);
    if (same !== undefined) return same;
    const held = new Set(tools.map((tool) => tool.name));
    const own = text.tools.filter((tool) => held.has(tool.name));
    const made = toolsetOf([...own, ...delegationToolSpecs(agent, sight)], sha256);
    known.set(key, made);
    return made;
  };
}
