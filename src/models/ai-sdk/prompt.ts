/**
 * Owns the way from Errand's request to the AI SDK's prompt.
 *
 * Invariants:
 *  1. A message becomes the same prompt message whatever comes after it, so that the bytes of a prefix never change between iterations.
 *  2. What a provider would refuse is not sent: empty texts, reasoning without an answer behind it, reasoning of another model, half
 *     surrogate pairs, call ids with characters that are not allowed everywhere, arguments that are no object.
 */

import type { ModelRequest } from "../../contracts/model.ts";
import { type Json, jsonObjectIs } from "../../core/values/json.ts";
import type { ContextMessage, ReplyPart, ToolSpec } from "../../core/values/message.ts";
import { keptData, type ProviderData } from "./provider-data.ts";

type ProviderOptions = Record<string, Record<string, Json>>;
interface WithOptions {
  providerOptions?: ProviderOptions;
}

type AssistantPart = (
  | { type: "text"; text: string }
  | { type: "reasoning"; text: string }
  | { type: "tool-call"; toolCallId: string; toolName: string; input: Json }
) &
  WithOptions;

interface ResultPart {
  type: "tool-result";
  toolCallId: string;
  toolName: string;
  output: { type: "text" | "error-text"; value: string };
}

/** The part of the AI SDK's prompt that Errand uses: the same in both versions of the interface. */
export type PromptMessage = (
  | { role: "system"; content: string }
  | { role: "user"; content: { type: "text"; text: string }[] }
  | { role: "assistant"; content: AssistantPart[] }
  | { role: "tool"; content: ResultPart[] }
) &
  WithOptions;

export interface FunctionTool {
  type: "function";
  name: string;
  description: string;
  /** JSON Schema: it was checked where the tool was made. */
  inputSchema: Json;
}

/** `system` is put at the system message; `model` is the name under which data of earlier replies was kept. */
export function promptOf(
  request: Pick<ModelRequest, "system" | "messages">,
  model: string,
  system: ProviderOptions | undefined,
): PromptMessage[] {
  const prompt: PromptMessage[] = [];
  if (request.system !== "") {
    const content = request.system.toWellFormed();
    prompt.push({ role: "system", content, ...(system === undefined ? {} : { providerOptions: system }) });
  }
  for (const message of request.messages) {
    const converted = messageOf(message, model);
    if (converted !== null) prompt.push(converted);
  }
  return prompt;
}

export function toolsOf(tools: readonly ToolSpec[], omitsNoProperties: boolean): FunctionTool[] {
  return tools.map(({ name, description, schema }) => ({
    type: "function",
    name,
    description,
    inputSchema: argumentsSchema(schema, omitsNoProperties),
  }));
}

/** The schema, with `properties` of a tool without arguments as the provider wants them. */
function argumentsSchema(schema: Json, omitsNoProperties: boolean): Json {
  if (!jsonObjectIs(schema)) return schema;
  const { properties, ...rest } = schema;
  if (properties !== undefined && !(jsonObjectIs(properties) && Object.keys(properties).length === 0)) return schema;
  return omitsNoProperties ? rest : { ...rest, properties: {} };
}

function messageOf(message: ContextMessage, model: string): PromptMessage | null {
  switch (message.role) {
    case "user":
      return { role: "user", content: [{ type: "text", text: message.text.toWellFormed() }] };
    case "tool":
      return {
        role: "tool",
        content: message.results.map(({ id, name, text, failed }) => ({
          type: "tool-result",
          toolCallId: callId(id),
          toolName: name,
          output: { type: failed ? "error-text" : "text", value: text.toWellFormed() },
        })),
      };
    case "assistant": {
      const content = assistantParts(message.parts, model);
      return content.length === 0 ? null : { role: "assistant", content };
    }
  }
}

function assistantParts(parts: readonly ReplyPart[], model: string): AssistantPart[] {
  const content: AssistantPart[] = [];
  let next: ProviderData = {};
  for (const part of parts) {
    if (part.type === "reasoning") {
      const kept = keptData(part, model);
      if (kept?.of === "next") next = kept.data;
      if (kept?.of === "this")
        content.push(withOptions({ type: "reasoning", text: part.text.toWellFormed() }, kept.data));
      continue;
    }
    const converted = part.type === "text" ? textPart(part.text) : callPart(part);
    if (converted !== null) content.push(withOptions(converted, next));
    next = {};
  }
  // Providers refuse reasoning that no answer follows.
  while (content.at(-1)?.type === "reasoning") content.pop();
  return content;
}

function textPart(text: string): AssistantPart | null {
  return text.trim() === "" ? null : { type: "text", text: text.toWellFormed() };
}

function callPart({ id, name, input }: Extract<ReplyPart, { type: "tool-call" }>): AssistantPart {
  return {
    type: "tool-call",
    toolCallId: callId(id),
    toolName: name,
    input: jsonObjectIs(input) ? input : { malformed_arguments: input },
  };
}

function withOptions(part: AssistantPart, data: ProviderData): AssistantPart {
  return Object.keys(data).length === 0 ? part : { ...part, providerOptions: { ...data } };
}

/** Anthropic takes letters, digits, `_` and `-` only; a call and its result are changed alike. */
function callId(id: string): string {
  return id.replaceAll(/[^A-Za-z0-9_-]/g, "_");
}
