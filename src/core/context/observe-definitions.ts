/** How definitions enter the contexts: the root's prompt and tools, what children lose with their parent, and skills. */

import type { DefinitionFacts, DefinitionText } from "../definition.ts";
import { contextCarry, contextNew } from "./contexts.ts";
import type { Observing } from "./observing.ts";
import { promptOfRoot } from "./prompts.ts";

/** A root's context keeps its messages when its definition changes. */
export function openRoot(o: Observing): void {
  const root = o.state.agents.get(0);
  if (root === undefined || o.state.settings === null) return;
  const text = o.definition(root.definition.hash);
  const others = definitionsOf(o, (facts) => facts.skill === undefined);
  const tools = o.toolsetFor(o.state, root, text, undefined);
  const fresh = contextNew(promptOfRoot(text, others, skillsOf(o)), tools, root.definition.model);
  const old = o.contexts.agents.get(0);
  if (old !== undefined) contextCarry(fresh, old);
  o.contexts.agents.set(0, fresh);
}

/** Children no longer see tools that they have lost with their parent, and see them again when it has them again. */
export function renewChildren(o: Observing): void {
  for (const [number, context] of o.contexts.agents) {
    const agent = o.state.agents.get(number);
    if (number === 0 || agent === undefined) continue;
    const text = o.definition(agent.definition.hash);
    const tools = o.toolsetFor(o.state, agent, text, o.contexts.runs.get(number)?.schema);
    if (tools.hash === context.tools.hash) continue;
    const fresh = contextNew(context.system, tools, context.model);
    contextCarry(fresh, context);
    o.contexts.agents.set(number, fresh);
  }
}

function definitionsOf(o: Observing, wanted: (facts: DefinitionFacts) => boolean): DefinitionText[] {
  return [...o.state.catalog.values()].filter(wanted).map((facts) => o.definition(facts.hash));
}

function skillsOf(o: Observing): DefinitionText[] {
  return definitionsOf(o, (facts) => facts.skill !== undefined);
}

/** An inline skill is read into the context of whoever uses it. */
export function skillText(o: Observing, name: string): string {
  const facts = o.state.catalog.get(name);
  return facts === undefined ? "" : o.definition(facts.hash).prompt;
}
