/** The tools that a model is told of. All children of one definition have the same, which are put together, named and hashed once. */

import { delegationToolSpecs, type Sight, sightOf } from "../agent/delegation-tools.ts";
import type { Sha256 } from "../journal.ts";
import type { ToolSpec } from "../message.ts";
import type { AgentState, TreeState } from "../state.ts";
import type { DefinitionFacts, DefinitionText } from "../definition.ts";

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
  /** By what agents that are made from it see. */
  const ofDefinition = new WeakMap<DefinitionFacts, Map<string, Toolset>>();

  function made(agent: AgentState, sight: Sight, text: DefinitionText, sees: string): Toolset {
    const { hash, tools } = agent.definition;
    const key = JSON.stringify([hash, sees, ...tools.map((tool) => tool.name)]);
    const same = known.get(key);
    if (same !== undefined) return same;
    const held = new Set(tools.map((tool) => tool.name));
    const own = text.tools.filter((tool) => held.has(tool.name));
    const toolset = toolsetOf([...own, ...delegationToolSpecs(agent, sight)], sha256);
    known.set(key, toolset);
    return toolset;
  }

  return ({ settings, catalog }, agent, text) => {
    if (settings === null) return toolsetOf([], sha256);
    const sight = sightOf(settings, catalog);
    const sees = `${agent.kind} ${agent.depth < sight.maxDepth} ${sight.skills}`;
    const toolsets = ofDefinition.get(agent.definition) ?? new Map<string, Toolset>();
    const same = toolsets.get(sees);
    if (same !== undefined) return same;
    const toolset = made(agent, sight, text, sees);
    ofDefinition.set(agent.definition, toolsets.set(sees, toolset));
    return toolset;
  };
}
