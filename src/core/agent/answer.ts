/** Answers to tool calls. */

import type { Deciding } from "../deciding.ts";
import type { CallFacts } from "../event.ts";
import type { Json } from "../json.ts";
import type { ToolCallPart } from "../message.ts";
import type { AgentState } from "../state.ts";
import type { Arguments } from "./arguments.ts";

/** A call of a delegation tool whose arguments fit its schema. */
export interface Call {
  readonly id: string;
  readonly name: string;
  readonly args: Arguments;
  readonly facts: CallFacts;
}

export interface Answer {
  readonly text: string;
  readonly failed: boolean;
}

/** A result the model can act on: JSON text. */
export function toolAnswer(value: Json): Answer {
  return { text: JSON.stringify(value), failed: false };
}

/** A failure the model can act on: what is wrong, and what to do. */
export function toolError(problem: string): Answer {
  return { text: `Error: ${problem}`, failed: true };
}

/** Answers a call at once. */
export function answer(d: Deciding, agent: AgentState, call: string, given: Answer): void {
  d.emit({
    type: "tool-answered",
    agent: agent.number,
    call,
    text: d.text(given.text),
    failed: given.failed ? true : undefined,
    size: given.text.length,
  });
}

/** That the user allowed a call, and what they were shown of the file that it would change. */
interface Allowed {
  readonly granted?: true | undefined;
  readonly seen?: string | undefined;
}

/** Lets one of the agent's own tools answer the call. */
export function toolOpens(
  d: Deciding,
  agent: AgentState,
  part: Pick<ToolCallPart, "id" | "name">,
  allowed?: Allowed,
): void {
  const tool = agent.definition.tools.find((known) => known.name === part.name);
  callOpens(d, agent, part, { safe: tool?.safe === true ? true : undefined, ...allowed });
}

/** Lets an effect answer the call. */
export function callOpens(
  d: Deciding,
  agent: AgentState,
  part: Pick<ToolCallPart, "id" | "name">,
  how: Allowed & { readonly safe?: true | undefined; readonly read?: true },
): void {
  const n = d.number();
  const { safe, granted, seen, read } = how;
  d.emit({ type: "tool-called", agent: agent.number, n, call: part.id, name: part.name, safe, granted, seen, read });
  d.effect({
    type: read === true ? "read-store" : "call-tool",
    key: d.key(n),
    attempt: 1,
    agent: agent.number,
    call: part.id,
    name: part.name,
  });
}
