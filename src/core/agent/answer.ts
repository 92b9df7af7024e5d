/** Answering tool calls: at once, or by an effect. */

import type { Arguments } from "../delegation/arguments.ts";
import type { CallFacts } from "../input.ts";
import type { AgentState } from "../state.ts";
import type { Deciding } from "../step.ts";
import type { Json } from "../values/json.ts";
import type { ToolCallPart } from "../values/message.ts";

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

/** A result that the model can act on: JSON text. */
export function toolAnswer(value: Json): Answer {
  return { text: JSON.stringify(value), failed: false };
}

/** A failure that the model can act on: it says what is wrong and what to do. */
export function toolError(problem: string): Answer {
  return { text: `Error: ${problem}`, failed: true };
}

/** Answers a call at once. */
export function answer(d: Deciding, agent: AgentState, call: string, { text, failed }: Answer): void {
  d.emit({
    type: "tool-answered",
    agent: agent.number,
    call,
    text: d.text(text),
    failed: failed ? true : undefined,
    size: text.length,
  });
}

type Called = Pick<ToolCallPart, "id" | "name">;

/** Calls one of the agent's own tools. `allowed`: the user allowed it, and saw the file with the mark `seen`. */
export function callTool(
  d: Deciding,
  agent: AgentState,
  { id: call, name }: Called,
  allowed: { readonly granted?: true; readonly seen?: string | undefined } = {},
): void {
  const n = d.number();
  const safe = agent.definition.tools.find((tool) => tool.name === name)?.safe === true ? true : undefined;
  d.emit({ type: "tool-called", agent: agent.number, n, call, name, safe, ...allowed });
  d.effect({ type: "call-tool", key: d.key(n), attempt: 1, agent: agent.number, call, name });
}

/** Asks the store for the answer to a call of a delegation tool. */
export function readStore(d: Deciding, { number: agent }: AgentState, { id: call, name }: Called): void {
  const n = d.number();
  d.emit({ type: "tool-called", agent, n, call, name, read: true });
  d.effect({ type: "read-store", key: d.key(n), attempt: 1, agent, call, name });
}
