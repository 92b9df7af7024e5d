/** A question as its user reads it. */

import type { Contexts } from "../../context/contexts.ts";
import type { AgentNumber } from "../../values/ids.ts";
import { type Json, jsonObjectIs } from "../../values/json.ts";
import type { ToolCallPart } from "../../values/message.ts";

/** Characters of a call's arguments that a question shows. */
const SHOWN = 1_000;

/** An open call as the model wrote it. */
export function askedCall(contexts: Contexts, agent: AgentNumber, call: string): ToolCallPart | undefined {
  return contexts.agents.get(agent)?.open?.calls.find(({ id }) => id === call);
}

/** The arguments of an open call, or null when its text is gone. */
function askedInput(contexts: Contexts, agent: AgentNumber, call: string): Json {
  return askedCall(contexts, agent, call)?.input ?? null;
}

/** The name of a question about the model calls of a request, in place of a tool's name. */
export const MODEL_CALLS = "model_calls";

/** What such a question shows in place of a call's arguments. */
export function modelCallsInput(calls: number): { readonly calls: number } {
  return { calls };
}

interface Asked {
  readonly agent: AgentNumber;
  readonly call?: string | null | undefined;
  readonly name: string;
}

/** `calls`: how many more model calls a question about model calls asks for. */
export function questionInput(contexts: Contexts, { agent, call }: Asked, calls: number): Json {
  return typeof call === "string" ? askedInput(contexts, agent, call) : modelCallsInput(calls);
}

export function questionText(contexts: Contexts, question: Asked, calls: number): string {
  const who = contexts.runs.get(question.agent)?.name ?? null;
  return questionWords(who, question.name, questionInput(contexts, question, calls));
}

/** `who`: the name of the run that asks; null for the agent that the user speaks with. */
export function questionWords(who: string | null, tool: string, input: Json): string {
  if (tool === MODEL_CALLS && jsonObjectIs(input)) {
    const calls = JSON.stringify(input["calls"]);
    return `This request has used ${calls} model calls. May it use ${calls} more? Answer yes or no.`;
  }
  const text = JSON.stringify(input);
  const rest = text.length - SHOWN;
  const shown = rest > 0 ? `${text.slice(0, SHOWN)} … (${rest} more characters)` : text;
  return `May ${who === null ? "I" : JSON.stringify(who)} use ${tool} with ${shown}? Answer yes or no.`;
}
