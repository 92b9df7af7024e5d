/** What a model is sent and what it answers, in a form of no provider. Plain JSON, as it stands in journal bodies. */

import { type Json, jsonObjectIs } from "./json.ts";

/** What a model call used, in tokens. */
export interface Usage {
  readonly input: number;
  readonly output: number;
  /** The part of `input` that the provider read from its cache. */
  readonly cachedInput?: number;
  /** True if the provider gave no usage, and the numbers are an estimate. */
  readonly estimated?: true;
}

/** All that a session of an outside child has used so far. `cost` in micro-dollars, if the child knows it. */
export interface SessionUsage extends Omit<Usage, "estimated"> {
  readonly cost?: number;
}

/** Text in a reply. */
export interface TextPart {
  readonly type: "text";
  readonly text: string;
}

/** What the model thought, to be sent back to it unchanged. */
export interface ReasoningPart {
  readonly type: "reasoning";
  readonly text: string;
  /** The provider's own data, such as a signature. */
  readonly data?: Json;
}

/** A call of a tool in a reply. */
export interface ToolCallPart {
  readonly type: "tool-call";
  readonly id: string;
  readonly name: string;
  /** The arguments as the model wrote them; a string when they were no JSON. */
  readonly input: Json;
}

/** A part of a reply: text, reasoning or a tool call. */
export type ReplyPart = TextPart | ReasoningPart | ToolCallPart;

/** A message as models read it. */
export type ContextMessage =
  | { readonly role: "user"; readonly text: string }
  | { readonly role: "assistant"; readonly parts: readonly ReplyPart[] }
  | { readonly role: "tool"; readonly results: readonly ToolResult[] };

/** What a call of a tool gave. */
export interface ToolResult {
  readonly id: string;
  readonly name: string;
  readonly text: string;
  readonly failed: boolean;
}

/** A tool as models are told of it. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly schema: Json;
}

/** The text of a reply: its text parts, joined by a line break. */
export function replyText(parts: readonly ReplyPart[]): string {
  return parts.flatMap((part) => (part.type === "text" ? part.text : [])).join("\n");
}

/** The parts of a reply in a body. Anything else in it is left out. */
export function replyPartsOf(value: Json | undefined): ReplyPart[] {
  if (!Array.isArray(value)) return [];
  const parts: ReplyPart[] = [];
  for (const part of value as readonly Json[]) {
    if (!jsonObjectIs(part)) continue;
    const { type, text, id, name } = part;
    if (type === "text" && typeof text === "string") parts.push({ type, text });
    if (type === "reasoning" && typeof text === "string") {
      parts.push(part["data"] === undefined ? { type, text } : { type, text, data: part["data"] });
    }
    if (type === "tool-call" && typeof id === "string" && typeof name === "string") {
      parts.push({ type, id, name, input: part["input"] ?? null });
    }
  }
  return parts;
}
