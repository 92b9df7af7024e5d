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
  const input = JSON.stringify(askedInput(contexts, question.agent, question.call));
  const rest = input.length - SHOWN;
  const shown = rest > 0 ? `${input.slice(0, SHOWN)} … (${rest} more characters)` : input;
  const who = contexts.runs.get(question.agent)?.name;
  return `May ${who === undefined ? "I" : JSON.stringify(who)} use ${question.name} with ${shown}? Answer yes or no.`;
}
