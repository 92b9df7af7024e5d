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

/** The name of a question that an outside child asks, in place of a tool's name. */
export const CHILD_QUESTION = "child_question";

interface Asked {
  readonly agent: AgentNumber;
  readonly call?: string | null | undefined;
  readonly ask?: string | null | undefined;
  readonly name: string;
}

/** `calls`: how many more model calls a question about model calls asks for. */
export function questionInput(contexts: Contexts, { agent, call, ask }: Asked, calls: number): Json {
  if (typeof ask === "string") return contexts.runs.get(agent)?.outside?.asked.get(ask) ?? null;
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
  if (tool === CHILD_QUESTION) return `${JSON.stringify(who ?? "")} asks: ${askedWords(input)}`;
  const text = JSON.stringify(input);
  const rest = text.length - SHOWN;
  const shown = rest > 0 ? `${text.slice(0, SHOWN)} … (${rest} more characters)` : text;
  return `May ${who === null ? "I" : JSON.stringify(who)} use ${tool} with ${shown}? Answer yes or no.`;
}

/** What an outside child asks, with the answers that it takes. */
function askedWords(input: Json): string {
  const { text, choices } = jsonObjectIs(input) ? input : {};
  const words = typeof text === "string" ? text : "";
  if (!Array.isArray(choices) || choices.length === 0) return words;
  return `${words} Answer one of: ${choices.map((choice) => JSON.stringify(choice)).join(", ")}.`;
}
