/** What scripted models were sent: messages, tool results, texts. */

import type { ContextMessage, ModelRequest } from "../../src/index.ts";
import type { ScriptedModels } from "../../src/testing/index.ts";

export { requestText } from "../../src/testing/index.ts";

export function parentRequests(models: ScriptedModels): readonly ModelRequest[] {
  return models.model("scripted/parent").requests;
}

export function childRequests(models: ScriptedModels): readonly ModelRequest[] {
  return models.model("scripted/child").requests;
}

/** The text of a user message, "" for another one. */
export function userText(message: ContextMessage | undefined): string {
  return message?.role === "user" ? message.text : "";
}

/** The text of the newest user message. */
export function newestUserText(request: ModelRequest | undefined): string {
  return userText(request?.messages.findLast((message) => message.role === "user"));
}

/** The number of user messages that have exactly this text. */
export function countUserMessages(request: ModelRequest | undefined, text: string): number {
  return (request?.messages ?? []).filter((message) => message.role === "user" && message.text === text).length;
}

/** All messages as JSON, with every field. */
export function requestJson(request: ModelRequest | undefined): string {
  return JSON.stringify(request?.messages ?? []);
}

/** The results in the newest tool message. */
export function toolResults(
  request: ModelRequest | undefined,
): readonly { readonly text: string; readonly failed: boolean }[] {
  const message = request?.messages.findLast(({ role }) => role === "tool");
  return message?.role === "tool" ? message.results : [];
}

/** The text of the last result in the newest tool message. */
export function toolText(request: ModelRequest | undefined): string {
  return toolResults(request).at(-1)?.text ?? "";
}

/** The same text, parsed as a JSON object. */
export function toolJson(request: ModelRequest | undefined): Record<string, unknown> {
  return JSON.parse(toolText(request)) as Record<string, unknown>;
}

/** True if the last result in the newest tool message is a failure. */
export function toolFailed(request: ModelRequest | undefined): boolean {
  return toolResults(request).at(-1)?.failed === true;
}

/** How often a text contains another. */
export function occurrences(text: string, part: string): number {
  return text.split(part).length - 1;
}
