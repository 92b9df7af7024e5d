/**
 * Turns Errand's request into the AI SDK's prompt.
 *
 * Invariants:
 *  1. A message always becomes the same prompt message, whatever follows it. So the same messages always give the same
 *     bytes, and a provider can cache them.
 *  2. It leaves out or changes what providers refuse: empty texts, reasoning at the end of a reply, reasoning of
 *     another model, half surrogate pairs, characters that some providers do not allow in call ids, arguments that are
 *     not an object.
 */

import type { ModelRequest } from "../../contracts/model.ts";
import { type Json, jsonObjectIs } from "../../core/values/json.ts";
import type { ContextMessage, ReplyPart, ToolSpec } from "../../core/values/message.ts";
import { dataInPart, type ProviderData } from "./provider-data.ts";
import type { ProviderOptions } from "./provider-settings.ts";

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

/** What Errand uses of the AI SDK's prompt. It is the same in both versions of the interface. */
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
  /** JSON Schema, checked when the tool was defined. */
  inputSchema: Json;
}

/** `systemOptions` are for the system message; `model` is the name under which replies keep the provider's data. */
export function promptOf(
  request: Pick<ModelRequest, "system" | "messages">,
  model: string,
  systemOptions: ProviderOptions | undefined,
): PromptMessage[] {
  const prompt: PromptMessage[] = [];
  if (request.system !== "") {
    const content = request.system.toWellFormed();
    const options = systemOptions === undefined ? {} : { providerOptions: systemOptions };
    prompt.push({ role: "system", content, ...options });
  }
  for (const message of request.messages) {
    const converted = messageOf(message, model);
    if (converted !== null) prompt.push(converted);
  }
  return prompt;
}

export function toolsOf(tools: readonly ToolSpec[], omitsEmptyProperties: boolean): FunctionTool[] {
  return tools.map(({ name, description, schema }) => ({
    type: "function",
    name,
    description,
    inputSchema: argumentsSchema(schema, omitsEmptyProperties),
  }));
}

/** The schema. Of a tool without arguments, `properties` are as the provider wants them. */
function argumentsSchema(schema: Json, omitsEmptyProperties: boolean): Json {
  if (!jsonObjectIs(schema)) return schema;
  const { properties, ...rest } = schema;
  if (properties !== undefined && !(jsonObjectIs(properties) && Object.keys(properties).length === 0)) return schema;
  return omitsEmptyProperties ? rest : { ...rest, properties: {} };
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
      const held = dataInPart(part, model);
      if (held?.of === "next") next = held.data;
      if (held?.of === "this")
        content.push(withOptions({ type: "reasoning", text: part.text.toWellFormed() }, held.data));
      continue;
    }
    const converted = part.type === "text" ? textPart(part.text) : callPart(part);
    if (converted !== null) content.push(withOptions(converted, next));
    next = {};
  }
  // Providers refuse reasoning at the end of a message.
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

/** Anthropic only accepts letters, digits, `_` and `-`. */
function callId(id: string): string {
  return id.replaceAll(/[^A-Za-z0-9_-]/g, "_");
}
