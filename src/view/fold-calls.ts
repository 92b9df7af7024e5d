/** Folds model calls, tool calls and the questions that hold calls back into the readable model. */

import { modelCost } from "../core/values/definition.ts";
import { MODEL_CALLS, modelCallsInput } from "../core/text/prompts/question-text.ts";
import { type StepKey, stepKey } from "../core/values/ids.ts";
import { jsonObjectIs } from "../core/values/json.ts";
import type { Usage } from "../core/values/message.ts";
import { callAbout, callArguments } from "./call-about.ts";
import type { ReadableEvent } from "./readable-event.ts";
import { type FactOf, textAt, type TreeEvent } from "./tree-event.ts";
import { type AgentModel, agentNamed, type EffectModel, type TreeModel } from "./tree-model.ts";

/** The open call with this key, with its agent; null if there is none. */
function openEffect(
  model: TreeModel,
  key: StepKey,
): { readonly effect: EffectModel; readonly agent: AgentModel } | null {
  const effect = model.effects.get(key);
  const agent = effect === undefined ? undefined : model.agents.get(effect.agent);
  return effect === undefined || agent === undefined ? null : { effect, agent };
}

export function modelCalled(model: TreeModel, fact: FactOf<"model-called">, seq: number): ReadableEvent[] {
  const agent = model.agents.get(fact.agent);
  if (agent === undefined) return [];
  agent.thinking = true;
  model.effects.set(stepKey(seq, fact.n), { agent: fact.agent, call: null, failures: 0 });
  return [];
}

export function modelAnswered(
  model: TreeModel,
  fact: FactOf<"model-replied" | "model-failed">,
  { texts, at }: TreeEvent,
): ReadableEvent[] {
  const open = openEffect(model, fact.effect);
  if (open === null) return [];
  const { effect, agent } = open;
  agent.thinking = false;
  agent.failure = fact.type === "model-failed" ? textAt(texts, 0) : null;
  if (fact.type === "model-replied") model.effects.delete(fact.effect);
  else effect.failures += 1;
  return fact.usage === null ? [] : booked(agent, fact.usage, at);
}

export function usageEstimated(model: TreeModel, fact: FactOf<"usage-estimated">, at: number): ReadableEvent[] {
  const agent = model.agents.get(fact.agent);
  if (agent === undefined) return [];
  if (fact.aborted === true) model.aborted.set(fact.effect, { agent: fact.agent, usage: fact.usage });
  return booked(agent, fact.usage, at);
}

function booked(agent: AgentModel, usage: Usage, at: number): ReadableEvent[] {
  book(agent, usage);
  const { input, output, estimated = false } = usage;
  const cost = agent.offline ? 0 : modelCost(agent.price, usage);
  return [{ type: "usage", at, ...agentNamed(agent), input, output, cost, estimated }];
}

/** Replaces the estimate of an aborted call by what the call really used. */
export function usageLearnt(model: TreeModel, fact: FactOf<"usage-learnt">, at: number): ReadableEvent[] {
  const call = model.aborted.get(fact.effect);
  const agent = call === undefined ? undefined : model.agents.get(call.agent);
  model.aborted.delete(fact.effect);
  if (call === undefined || agent === undefined) return [];
  book(agent, call.usage, -1);
  const [used] = booked(agent, fact.usage, at);
  if (used?.type !== "usage") return [];
  const { input, output } = call.usage;
  const cost = agent.offline ? 0 : modelCost(agent.price, call.usage);
  return [{ ...used, input: used.input - input, output: used.output - output, cost: used.cost - cost }];
}

function book(agent: AgentModel, usage: Usage, sign: 1 | -1 = 1): void {
  if (agent.offline) return;
  const tokens = usage.input + usage.output;
  agent.tokens += sign * tokens;
  agent.cost += sign * modelCost(agent.price, usage);
  if (usage.estimated === true) agent.estimated += sign * tokens;
}

export function retrySet(model: TreeModel, fact: FactOf<"model-retry-set">, at: number): ReadableEvent[] {
  const open = openEffect(model, fact.effect);
  if (open === null) return [];
  const { effect, agent } = open;
  const attempt = effect.failures + 1;
  agent.retry = { attempt, at: fact.at };
  return [{ type: "model-retry", at, ...agentNamed(agent), attempt, retryAt: fact.at, error: agent.failure }];
}

export function effectRepeated(model: TreeModel, key: StepKey): ReadableEvent[] {
  const open = openEffect(model, key);
  if (open === null) return [];
  const { effect, agent } = open;
  agent.retry = null;
  if (effect.session !== undefined) effect.session = { input: 0, output: 0, cost: 0 };
  else if (effect.call === null) agent.thinking = true;
  return [];
}

export function toolCalled(model: TreeModel, fact: FactOf<"tool-called">, event: TreeEvent): ReadableEvent[] {
  const agent = model.agents.get(fact.agent);
  if (agent === undefined) return [];
  const key = stepKey(event.seq, fact.n);
  const about = callAbout(callArguments(event.texts, fact.call));
  agent.tools.set(key, { name: fact.name, about });
  model.effects.set(key, { agent: fact.agent, call: fact.call, failures: 0 });
  return [{ type: "tool-started", at: event.at, ...agentNamed(agent), call: fact.call, tool: fact.name, about }];
}

export function toolFinished(model: TreeModel, fact: FactOf<"tool-finished">, at: number): ReadableEvent[] {
  const open = openEffect(model, fact.effect);
  const tool = open?.agent.tools.get(fact.effect);
  if (open === null || tool === undefined) return [];
  const { effect, agent } = open;
  agent.tools.delete(fact.effect);
  model.effects.delete(fact.effect);
  const failed = fact.failed === true;
  return [{ type: "tool-ended", at, ...agentNamed(agent), call: effect.call ?? "", tool: tool.name, failed }];
}

/** A new request has model calls of its own, so the question whether the last request may have more is closed. */
export function requestBegun(model: TreeModel): ReadableEvent[] {
  for (const [key, { tool }] of model.questions) if (tool === MODEL_CALLS) model.questions.delete(key);
  return [];
}

export function questionAsked(model: TreeModel, fact: FactOf<"question-asked">, event: TreeEvent): ReadableEvent[] {
  const agent = model.agents.get(fact.agent);
  if (agent === undefined) return [];
  const { seq, texts, tree, at } = event;
  const { name: tool, call, ask } = fact;
  const key = stepKey(seq, fact.n);
  const [own = null] = texts;
  const ofCall = call === undefined ? modelCallsInput(fact.calls ?? 0) : callArguments(texts, call);
  const input = ask !== undefined && jsonObjectIs(own) ? own : ofCall;
  model.questions.set(key, { agent: fact.agent, tool, input, about: callAbout(input) });
  return [{ type: "question-asked", at, ...agentNamed(agent), id: `${tree}/${key}`, tool, input }];
}

export function answerGiven(model: TreeModel, fact: FactOf<"answer-given">, event: TreeEvent): ReadableEvent[] {
  const question = model.questions.get(fact.question);
  const agent = question === undefined ? undefined : model.agents.get(question.agent);
  model.questions.delete(fact.question);
  if (agent === undefined) return [];
  const id = `${event.tree}/${fact.question}`;
  return [{ type: "question-answered", at: event.at, ...agentNamed(agent), id, allow: fact.allow }];
}
