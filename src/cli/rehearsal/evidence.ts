/**
 * Owns the reading of a conversation: what the model already asked its tools, and what they answered.
 *
 * Invariant: everything is taken from the request's messages; a call counts as made only when its result is there.
 */

import { type Json, jsonObjectIs } from "../../core/values/json.ts";
import type { ContextMessage, ToolResult } from "../../core/values/message.ts";

/** A tool call that the model makes, or has made. */
export interface Action {
  readonly name: string;
  readonly input: { readonly [key: string]: Json };
}

export interface MadeCall {
  readonly name: string;
  readonly input: Json;
  readonly result: ToolResult;
  /** The place of its message in the conversation. */
  readonly position: number;
}

export interface Evidence {
  /** True if the action was taken, whatever came of it. */
  has(action: Action): boolean;
  /** What the action gave, or null if it was not taken or failed. */
  output(action: Action): string | null;
}

export function callsIn(messages: readonly ContextMessage[]): readonly MadeCall[] {
  const calls: MadeCall[] = [];
  for (const [position, message] of messages.entries()) {
    if (message.role !== "assistant") continue;
    const next = messages[position + 1];
    for (const part of message.parts) {
      if (part.type !== "tool-call" || next?.role !== "tool") continue;
      const result = next.results.find((candidate) => candidate.id === part.id);
      if (result !== undefined) calls.push({ name: part.name, input: part.input, result, position });
    }
  }
  return calls;
}

export function createEvidence(calls: readonly MadeCall[]): Evidence {
  const results = new Map(calls.map((call) => [keyOf(call.name, call.input), call.result]));
  return {
    has: (action) => results.has(keyOf(action.name, action.input)),
    output(action) {
      const result = results.get(keyOf(action.name, action.input));
      return result === undefined || result.failed ? null : result.text;
    },
  };
}

/** The order of an object's keys does not matter: a store may have changed it. */
function keyOf(name: string, input: Json): string {
  const entries = jsonObjectIs(input)
    ? Object.entries(input).toSorted(([left], [right]) => (left < right ? -1 : 1))
    : input;
  return JSON.stringify([name, entries]);
}
