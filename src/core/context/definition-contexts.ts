/** How definitions enter the contexts: prompts, tools and skills. */

import type { WholeResult } from "../input.ts";
import { promptOfRoot } from "../text/prompts/system-prompts.ts";
import type { DefinitionFacts, DefinitionText } from "../values/definition.ts";
import type { AgentNumber } from "../values/ids.ts";
import { contextCopy, contextNew } from "./contexts.ts";
import { type ContextHandlers, contextOf, type Fold } from "./fold.ts";
import { withCutResult } from "../text/prompts/cut-results.ts";

/** Makes the root's context. If there was one before, it keeps its messages. */
function openRoot(fold: Fold): void {
  const { state, contexts } = fold;
  const root = state.agents.get(0);
  if (root === undefined || state.settings === null) return;
  const text = fold.definition(root.definition.hash);
  const agents = definitionTexts(fold, ({ skill }) => skill === undefined);
  const skills = definitionTexts(fold, ({ skill }) => skill !== undefined);
  const tools = fold.toolsetFor(state, root, text, undefined);
  const fresh = contextNew(promptOfRoot(text, agents, skills), tools, root.definition.model);
  const old = contexts.agents.get(0);
  if (old !== undefined) contextCopy(fresh, old);
  contexts.agents.set(0, fresh);
}

function definitionTexts(fold: Fold, wanted: (facts: DefinitionFacts) => boolean): DefinitionText[] {
  return [...fold.state.catalog.values()].filter(wanted).map(({ hash }) => fold.definition(hash));
}

/** Shows the agent the tools that it has now. Its context keeps its messages. */
function renewTools(fold: Fold, number: AgentNumber): void {
  const { state, contexts } = fold;
  const context = contexts.agents.get(number);
  const agent = state.agents.get(number);
  if (context === undefined || agent === undefined) return;
  const { hash, model, runner } = agent.definition;
  if (runner !== undefined) return;
  const tools = fold.toolsetFor(state, agent, fold.definition(hash), contexts.runs.get(number)?.schema);
  if (tools.hash === context.tools.hash && model === context.model) return;
  const fresh = contextNew(context.system, tools, model);
  contextCopy(fresh, context);
  contexts.agents.set(number, fresh);
}

/** A result of the agent was cut: the agent sees `read_result` from here on. */
export function addCutResult(fold: Fold, agent: AgentNumber, call: string, whole: WholeResult, seq: number): void {
  renewTools(fold, agent);
  const context = contextOf(fold, agent);
  const part = context?.open?.calls.find(({ id }) => id === call);
  if (context !== undefined && part !== undefined)
    context.cutResults = withCutResult(context.cutResults, seq, part.name, whole);
}

/** The text of an inline skill. */
export function skillText({ state, definition }: Fold, name: string): string {
  const facts = state.catalog.get(name);
  return facts === undefined ? "" : definition(facts.hash).prompt;
}

export const definitionContexts = {
  "tree-opened"(fold, _fact, textAt) {
    fold.contexts.data = textAt(0);
    openRoot(fold);
  },
  "tree-forked": openRoot,
  "catalog-changed"(fold) {
    openRoot(fold);
    for (const number of fold.contexts.agents.keys()) if (number !== 0) renewTools(fold, number);
  },
} satisfies ContextHandlers;
