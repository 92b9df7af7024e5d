/** Short words for what delegation tests say and look at: calls, results, contexts, facts. */

import type { ContextMessage, Errand, Fact, ModelRequest, TreeEvent } from "../../src/index.ts";
import type { Json } from "../../src/core/values/json.ts";
import { callTool, callTools, type ScriptedModels, type ScriptedReply } from "../../src/testing/index.ts";

type Arguments = { readonly [name: string]: Json };

export interface StartCall {
  readonly name: "start_background_agent";
  readonly input: Json;
}

/** A call of `start_background_agent`. */
export function start(task: string, more: Arguments = {}): StartCall {
  return { name: "start_background_agent", input: { task, ...more } };
}

/** A reply that starts these background runs. */
export function starts(...calls: readonly StartCall[]): ScriptedReply {
  return callTools(calls);
}

export function delegate(task: string, more: Arguments = {}): ScriptedReply {
  return callTool("subagent", { task, ...more });
}

export function report(text: string, more: Arguments = {}): ScriptedReply {
  return callTool("send_agent_message", { text, ...more });
}

export function parentRequests(models: ScriptedModels): readonly ModelRequest[] {
  return models.model("scripted/parent").requests;
}

export function childRequests(models: ScriptedModels): readonly ModelRequest[] {
  return models.model("scripted/child").requests;
}

export function textOf(message: ContextMessage | undefined): string {
  return message?.role === "user" ? message.text : "";
}

/** The newest user text of a request. */
export function newest(request: ModelRequest | undefined): string {
  return textOf(request?.messages.findLast((message) => message.role === "user"));
}

/** All that a request holds, as one text. */
export function whole(request: ModelRequest | undefined): string {
  return JSON.stringify(request?.messages ?? []);
}

/** The results that the newest tool message of a request holds. */
export function resultsOf(
  request: ModelRequest | undefined,
): readonly { readonly text: string; readonly failed: boolean }[] {
  const last = request?.messages.findLast((message) => message.role === "tool");
  return last?.role === "tool" ? last.results : [];
}

export function resultOf(request: ModelRequest | undefined): string {
  return resultsOf(request)[0]?.text ?? "";
}

/** A tool's answer, read as a JSON object. */
export function answerOf(request: ModelRequest | undefined): Record<string, unknown> {
  return JSON.parse(resultOf(request)) as Record<string, unknown>;
}

export function factsOf<Type extends Fact["type"]>(
  events: readonly TreeEvent[],
  type: Type,
): Extract<Fact, { type: Type }>[] {
  return events
    .filter((event) => event.late === null)
    .flatMap((event) => event.facts)
    .filter((fact): fact is Extract<Fact, { type: Type }> => fact.type === type);
}

/** Every step that a tree has committed until now. */
export async function eventsNow(errand: Errand, tree: string): Promise<TreeEvent[]> {
  const last = (await errand.listTrees({ limit: 1_000 })).find((known) => known.id === tree)?.nextSeq ?? 1;
  const events: TreeEvent[] = [];
  if (last === 1) return events;
  for await (const event of errand.journal(tree)) {
    events.push(event);
    if (event.seq >= last - 1) break;
  }
  return events;
}

/** How often a text holds another. */
export function times(text: string, part: string): number {
  return text.split(part).length - 1;
}
