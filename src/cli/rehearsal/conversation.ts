/** Reads a conversation: its texts, and its tool calls with their results. */

import { COMPACTION_REQUEST } from "../../core/text/prompts/system-prompts.ts";
import { type Json, jsonObjectIs } from "../../core/values/json.ts";
import { type ContextMessage, replyText, type ToolResult } from "../../core/values/message.ts";
import { shorten } from "./wording.ts";

/** A tool call. */
export interface Action {
  readonly name: string;
  readonly input: { readonly [key: string]: Json };
}

export interface MadeCall {
  readonly name: string;
  readonly input: Json;
  readonly result: ToolResult;
  /** The index of its message. */
  readonly position: number;
}

/** The results of the tools. */
export interface Evidence {
  /** True if the tool was called, even if it failed. */
  has(action: Action): boolean;
  /** Null if the tool was not called or failed. */
  output(action: Action): string | null;
}

/** The calls for one question, and the findings from their results. */
export interface Inquiry {
  /** All tool calls that it needs, as far as they are known. */
  readonly actions: readonly Action[];
  /** Lines that begin with `- `, or with spaces if they continue the line before. */
  findings(): readonly string[];
}

const SUMMARY_LENGTH = 4000;

/** The messages without the lines in brackets that the runtime adds at the end (rules D8, D11). */
export function withoutNotes(messages: readonly ContextMessage[]): readonly ContextMessage[] {
  return messages.flatMap((message): readonly ContextMessage[] => {
    if (message.role !== "user") return [message];
    const lines = message.text.split("\n");
    const last = lines.findLastIndex((line) => !/^\s*(\[.*\])?\s*$/.test(line));
    return last < 0 ? [] : [{ role: "user", text: lines.slice(0, last + 1).join("\n") }];
  });
}

/** The calls that have results. */
export function callsIn(messages: readonly ContextMessage[]): readonly MadeCall[] {
  return messages.flatMap((message, position) => {
    const next = messages[position + 1];
    if (message.role !== "assistant" || next?.role !== "tool") return [];
    return message.parts.flatMap((part): readonly MadeCall[] => {
      const result = next.results.find(({ id }) => part.type === "tool-call" && id === part.id);
      if (part.type !== "tool-call" || result === undefined) return [];
      return [{ name: part.name, input: part.input, result, position }];
    });
  });
}

export function createEvidence(calls: readonly MadeCall[]): Evidence {
  const results = new Map(calls.map((call) => [keyOf(call.name, call.input), call.result]));
  return {
    has: ({ name, input }) => results.has(keyOf(name, input)),
    output({ name, input }) {
      const result = results.get(keyOf(name, input));
      return result === undefined || result.failed ? null : result.text;
    },
  };
}

/** A store may have changed the order of the keys. */
function keyOf(name: string, input: Json): string {
  if (!jsonObjectIs(input)) return JSON.stringify([name, input]);
  return JSON.stringify([name, Object.entries(input).toSorted(([left], [right]) => (left < right ? -1 : 1))]);
}

/** True if the model is asked to summarise its conversation. */
export function compactionIs(messages: readonly ContextMessage[]): boolean {
  const last = messages.at(-1);
  return last?.role === "user" && last.text.endsWith(COMPACTION_REQUEST);
}

/** The newest messages, as many as fit. */
export function summaryOf(messages: readonly ContextMessage[]): string {
  const lines: string[] = [];
  let room = SUMMARY_LENGTH;
  for (const message of withoutNotes(messages).toReversed()) {
    const text = message.role === "user" ? message.text : message.role === "assistant" ? replyText(message.parts) : "";
    if (text.trim() === "" || text.endsWith(COMPACTION_REQUEST)) continue;
    const line = `${message.role === "user" ? "Told" : "Answered"}: ${shorten(text, 600)}`;
    room -= line.length;
    if (room < 0) break;
    lines.unshift(line);
  }
  return lines.length === 0 ? "Nothing was said yet." : lines.join("\n");
}
