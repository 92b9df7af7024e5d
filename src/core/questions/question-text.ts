/** A question as its user reads it. */

import type { Contexts } from "../context/contexts.ts";
import type { AgentNumber } from "../ids.ts";
import type { Json } from "../json.ts";

/** Characters of a call's arguments that a question shows; who answers can look at the whole call. */
const SHOWN = 1_000;

/** What is asked about: the call as the model wrote it, or null when its text is gone. */
export function askedInput(contexts: Contexts, agent: AgentNumber, call: string): Json {
  return contexts.agents.get(agent)?.open?.calls.find((given) => given.id === call)?.input ?? null;
}

export function questionText(
  contexts: Contexts,
  question: { readonly agent: AgentNumber; readonly call: string; readonly name: string },
): string {
  const who = contexts.runs.get(question.agent)?.name ?? null;
  return questionWords(who, question.name, askedInput(contexts, question.agent, question.call));
}

/** `who`: the name of the run that asks; null for the agent that the user speaks with. */
export function questionWords(who: string | null, tool: string, input: Json): string {
  const text = JSON.stringify(input);
  const rest = text.length - SHOWN;
  const shown = rest > 0 ? `${text.slice(0, SHOWN)} … (${rest} more characters)` : text;
  return `May ${who === null ? "I" : JSON.stringify(who)} use ${tool} with ${shown}? Answer yes or no.`;
}
