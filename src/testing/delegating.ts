/** Replies that delegate and report, and what models were sent. */

import type { ModelRequest } from "../contracts/model.ts";
import type { Json } from "../core/values/json.ts";
import type { ContextMessage } from "../core/values/message.ts";
import { callTool, callTools, type ScriptedReply } from "../models/scripted-reply.ts";

/** Further arguments of a delegation. */
export type Arguments = { readonly [name: string]: Json };

/** A reply that gives a task to a child and waits for it. `more` holds further arguments of `subagent`. */
export function delegate(task: string, more: Arguments = {}): ScriptedReply {
  return callTool("subagent", { task, ...more });
}

/** A reply that starts a child in the background for each task. */
export function startInBackground(tasks: readonly string[], more: Arguments = {}): ScriptedReply {
  return callTools(tasks.map((task) => ({ name: "start_background_agent", input: { task, ...more } })));
}

/** A child's reply that reports and ends its run. `more` holds further arguments, such as `data`. */
export function report(text: string, more: Arguments = {}): ScriptedReply {
  return callTool("send_agent_message", { text, final: true, ...more });
}

/** The texts of all messages of a request, as the model reads them. */
export function requestText(request: ModelRequest | undefined): string {
  return (request?.messages ?? []).map(messageText).join("\n");
}

function messageText(message: ContextMessage): string {
  if (message.role === "user") return message.text;
  if (message.role === "tool") return message.results.map((result) => result.text).join("\n");
  return message.parts.map((part) => (part.type === "tool-call" ? JSON.stringify(part.input) : part.text)).join("\n");
}
