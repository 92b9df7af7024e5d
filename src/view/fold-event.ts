/**
 * Folds a tree's events into the model of its picture, and says what each changed.
 *
 * Invariants:
 *  1. The model and the changes follow from the events alone: the same events give the same lines.
 *  2. A late event changed nothing in the tree and changes nothing here.
 *  3. Texts are passed on as they stand in the journal; whoever shows them makes them harmless first.
 */

import { modelCost } from "../../core/agent/prices.ts";
import { MODEL_CALLS, modelCallsInput } from "../../core/text/prompts/question-text.ts";
import type { DefinitionFacts } from "../../core/values/definition.ts";
import type { Decided, Fact, Input } from "../../core/event.ts";
import { type StepKey, stepKey } from "../../core/values/ids.ts";
import { jsonObjectIs } from "../../core/values/json.ts";
import type { Usage } from "../../core/values/message.ts";
import type { TreeEvent } from "../../runtime/errand.ts";
import { offlineIs } from "../run/offline.ts";
import { callAbout, callArguments, runName } from "./call-about.ts";
import type { Change } from "./change.ts";
import { endAgentWork, newAgent, runFields, whose } from "./agent-model.ts";
import type { AgentModel, TreeModel } from "./tree-model.ts";

type FactOf<Type extends Fact["type"]> = Extract<Input | Decided, { type: Type }>;

export function foldEvent(model: TreeModel, event: TreeEvent): Change[] {
  model.tree = event.tree;
  model.at = Math.max(model.at, event.at);
  if (event.late !== null) return [];
  return event.facts.flatMap((fact) => foldFact(model, fact, event));
}

function foldFact(model: TreeModel, fact: Fact, event: TreeEvent): Change[] {
  const { at } = event;
  switch (fact.type) {
    case "tree-opened":
      return treeOpened(model, fact, at);
    case "tree-forked":
      return treeForked(model, fact, at);
    case "catalog-changed":
      noteDefinitions(model, fact.root === undefined ? fact.catalog : [...fact.catalog, fact.root]);
      return [];
    case "message-posted":
      return fact.silent === true ? [] : requestBegun(model);
    case "tree-closed":
      return treeClosed(model, at);
    case "run-created":
      if (fact.call === null) requestBegun(model);
      return runCreated(model, fact, event);
    case "run-started":
    case "run-state-changed":
      return runMoved(model, fact, at);
    case "run-ended":
      return runEnded(model, fact, event);
    case "turn-started":
      return turnStarted(model, fact, at);
    case "turn-ended":
      return turnEnded(model, fact, event);
    case "cancel-asked":
      return treeCancelled(model, fact, at);
    case "model-called":
      return modelCalled(model, fact, event.seq);
    case "model-replied":
    case "model-failed":
      return modelAnswered(model, fact, event);
    case "usage-estimated":
      return usageEstimated(model, fact);
    case "usage-learnt":
      return usageLearnt(model, fact);
    case "model-retry-set":
      return retrySet(model, fact, at);
    case "effect-repeated":
      return effectRepeated(model, fact.effect);
    case "tool-called":
      return toolCalled(model, fact, event);
    case "tool-finished":
      return toolFinished(model, fact, at);
    case "question-asked":
      return questionAsked(model, fact, event);
    case "answer-given":
      return answerGiven(model, fact, event);
    default:
      return [];
  }
}

function treeOpened(model: TreeModel, fact: FactOf<"tree-opened">, at: number): Change[] {
  noteDefinitions(model, fact.catalog);
  const known = model.definitions.get(fact.definition);
  const { definition, agent: id } = fact;
  const price = known?.price ?? null;
  const offline = offlineIs(known?.model ?? "");
  const root = newAgent({ number: 0, id, parent: null, name: definition, definition, price, offline });
  root.startedAt = at;
  model.agents.set(0, root);
  return [{ type: "agent-opened", at, tree: model.tree, agent: id, definition, model: known?.model ?? "" }];
}

function noteDefinitions(model: TreeModel, catalog: readonly DefinitionFacts[]): void {
  for (const { name, model: used, price } of catalog) model.definitions.set(name, { model: used, price });
}

/** From here on it is another tree: its root has another id, perhaps another definition, and nothing under way but its turn. */
function treeForked(model: TreeModel, fact: FactOf<"tree-forked">, at: number): Change[] {
  noteDefinitions(model, [...fact.catalog, fact.root]);
  const before = model.agents.get(0);
  if (before === undefined) return [];
  const { name: definition, price } = fact.root;
  const offline = offlineIs(fact.root.model);
  const root = { ...before, id: fact.agent, name: definition, definition, price, offline, startedAt: at };
  root.tools.clear();
  model.questions.clear();
  model.agents.set(0, root);
  return [{ type: "agent-opened", at, tree: model.tree, agent: fact.agent, definition, model: fact.root.model }];
}

function treeClosed(model: TreeModel, at: number): Change[] {
  const root = model.agents.get(0);
  if (root === undefined) return [];
  endAgentWork(model, root);
  root.endedAt = at;
  return [];
}

function runCreated(model: TreeModel, fact: FactOf<"run-created">, event: TreeEvent): Change[] {
  const asked = fact.call === null ? event.texts[0] : callArguments(event.texts, fact.call);
  const name = runName(jsonObjectIs(asked) ? asked : {}) || fact.definition;
  const { definition, parent, mode, run: number, agent: id } = fact;
  const price = fact.model?.price ?? model.definitions.get(definition)?.price ?? null;
  const offline = offlineIs(fact.model?.name ?? model.definitions.get(definition)?.model ?? "");
  const run = { id: fact.id, mode, state: "queued" as const, status: null, reason: null, error: null, report: null };
  model.agents.set(number, newAgent({ number, id, parent, name, definition, price, offline, run }));
  const parentId = model.agents.get(parent)?.id ?? "";
  return [{ type: "run-created", at: event.at, run: fact.id, agent: id, parent: parentId, name, definition, mode }];
}

function runMoved(model: TreeModel, fact: FactOf<"run-started" | "run-state-changed">, at: number): Change[] {
  const agent = model.agents.get(fact.run);
  if (agent === undefined || agent.run === null) return [];
  if (fact.type === "run-started") {
    agent.run.state = "running";
    agent.startedAt = at;
    return [{ type: "run-started", at, ...runFields(agent, agent.run) }];
  }
  agent.run.state = fact.state;
  return [{ type: "run-state-changed", at, ...runFields(agent, agent.run), state: fact.state }];
}

function runEnded(model: TreeModel, fact: FactOf<"run-ended">, { at, texts }: TreeEvent): Change[] {
  const agent = model.agents.get(fact.run);
  if (agent === undefined || agent.run === null) return [];
  endAgentWork(model, agent);
  const { status, report } = fact;
  const how = { status, reason: fact.reason ?? null, error: textAt(texts, fact.error), report };
  Object.assign(agent.run, { state: "ended", ...how });
  agent.endedAt = at;
  const { tokens, cost, startedAt } = agent;
  const elapsedMs = startedAt === null ? 0 : at - startedAt;
  return [{ type: "run-ended", at, ...runFields(agent, agent.run), ...how, elapsedMs, tokens, cost }];
}

function turnStarted(model: TreeModel, fact: FactOf<"turn-started">, at: number): Change[] {
  const agent = model.agents.get(fact.agent);
  if (agent === undefined) return [];
  agent.turn = true;
  agent.turns += 1;
  agent.outcome = null;
  agent.endedAt = null;
  return [{ type: "turn-started", at, ...whose(agent), internal: fact.announcement !== undefined }];
}

function turnEnded(model: TreeModel, fact: FactOf<"turn-ended">, event: TreeEvent): Change[] {
  const agent = model.agents.get(fact.agent);
  if (agent === undefined) return [];
  endAgentWork(model, agent);
  agent.outcome = fact.outcome;
  agent.reason = fact.reason ?? null;
  agent.error = textAt(event.texts, fact.error);
  if (agent.run === null) agent.endedAt = event.at;
  const { outcome, reason, error } = agent;
  return [{ type: "turn-ended", at: event.at, ...whose(agent), outcome, reason, error }];
}

/** The whole tree was cancelled: its root counts as cancelled also when it only waited for runs. */
function treeCancelled(model: TreeModel, fact: FactOf<"cancel-asked">, at: number): Change[] {
  const root = model.agents.get(0);
  if (fact.run !== null || root === undefined) return [];
  root.outcome = "cancelled";
  root.endedAt = at;
  return [];
}

function modelCalled(model: TreeModel, fact: FactOf<"model-called">, seq: number): Change[] {
  const agent = model.agents.get(fact.agent);
  if (agent === undefined) return [];
  agent.thinking = true;
  model.effects.set(stepKey(seq, fact.n), { agent: fact.agent, call: null, failures: 0 });
  return [];
}

function textAt(texts: TreeEvent["texts"], index: number | undefined): string | null {
  const text = index === undefined ? undefined : texts[index];
  return typeof text === "string" ? text : null;
}

function modelAnswered(
  model: TreeModel,
  fact: FactOf<"model-replied" | "model-failed">,
  { texts }: TreeEvent,
): Change[] {
  const effect = model.effects.get(fact.effect);
  const agent = effect === undefined ? undefined : model.agents.get(effect.agent);
  if (effect === undefined || agent === undefined) return [];
  agent.thinking = false;
  agent.failure = fact.type === "model-failed" ? textAt(texts, 0) : null;
  if (fact.usage !== null) book(agent, fact.usage);
  if (fact.type === "model-replied") model.effects.delete(fact.effect);
  else effect.failures += 1;
  return [];
}

function usageEstimated(model: TreeModel, fact: FactOf<"usage-estimated">): Change[] {
  const agent = model.agents.get(fact.agent);
  if (agent === undefined) return [];
  book(agent, fact.usage);
  if (fact.aborted === true) model.aborted.set(fact.effect, { agent: fact.agent, usage: fact.usage });
  return [];
}

/** What was booked for a call that was given up makes way for what it used. */
function usageLearnt(model: TreeModel, fact: FactOf<"usage-learnt">): Change[] {
  const call = model.aborted.get(fact.effect);
  const agent = call === undefined ? undefined : model.agents.get(call.agent);
  model.aborted.delete(fact.effect);
  if (call === undefined || agent === undefined) return [];
  book(agent, call.usage, -1);
  book(agent, fact.usage);
  return [];
}

function book(agent: AgentModel, usage: Usage, sign: 1 | -1 = 1): void {
  if (agent.offline) return;
  const tokens = usage.input + usage.output;
  agent.tokens += sign * tokens;
  agent.cost += sign * modelCost(agent.price, usage);
  if (usage.estimated === true) agent.estimated += sign * tokens;
}

function retrySet(model: TreeModel, fact: FactOf<"model-retry-set">, at: number): Change[] {
  const effect = model.effects.get(fact.effect);
  const agent = effect === undefined ? undefined : model.agents.get(effect.agent);
  if (effect === undefined || agent === undefined) return [];
  const attempt = effect.failures + 1;
  agent.retry = { attempt, at: fact.at };
  return [{ type: "model-retry", at, ...whose(agent), attempt, retryAt: fact.at, error: agent.failure }];
}

function effectRepeated(model: TreeModel, key: StepKey): Change[] {
  const effect = model.effects.get(key);
  const agent = effect === undefined ? undefined : model.agents.get(effect.agent);
  if (effect === undefined || agent === undefined) return [];
  agent.retry = null;
  if (effect.call === null) agent.thinking = true;
  return [];
}

function toolCalled(model: TreeModel, fact: FactOf<"tool-called">, event: TreeEvent): Change[] {
  const agent = model.agents.get(fact.agent);
  if (agent === undefined) return [];
  const key = stepKey(event.seq, fact.n);
  const about = callAbout(callArguments(event.texts, fact.call));
  agent.tools.set(key, { name: fact.name, about });
  model.effects.set(key, { agent: fact.agent, call: fact.call, failures: 0 });
  return [{ type: "tool-started", at: event.at, ...whose(agent), call: fact.call, tool: fact.name, about }];
}

function toolFinished(model: TreeModel, fact: FactOf<"tool-finished">, at: number): Change[] {
  const effect = model.effects.get(fact.effect);
  const agent = effect === undefined ? undefined : model.agents.get(effect.agent);
  const tool = agent?.tools.get(fact.effect);
  if (effect === undefined || agent === undefined || tool === undefined) return [];
  agent.tools.delete(fact.effect);
  model.effects.delete(fact.effect);
  const failed = fact.failed === true;
  return [{ type: "tool-ended", at, ...whose(agent), call: effect.call ?? "", tool: tool.name, failed }];
}

/** A new request has model calls of its own: it is no longer asked whether the one before may have more. */
function requestBegun(model: TreeModel): Change[] {
  for (const [key, { tool }] of model.questions) if (tool === MODEL_CALLS) model.questions.delete(key);
  return [];
}

function questionAsked(model: TreeModel, fact: FactOf<"question-asked">, event: TreeEvent): Change[] {
  const agent = model.agents.get(fact.agent);
  if (agent === undefined) return [];
  const key = stepKey(event.seq, fact.n);
  const input = fact.call === undefined ? modelCallsInput(fact.calls ?? 0) : callArguments(event.texts, fact.call);
  model.questions.set(key, { agent: fact.agent, tool: fact.name, input, about: callAbout(input) });
  return [
    { type: "question-asked", at: event.at, ...whose(agent), id: `${event.tree}/${key}`, tool: fact.name, input },
  ];
}

function answerGiven(model: TreeModel, fact: FactOf<"answer-given">, event: TreeEvent): Change[] {
  const question = model.questions.get(fact.question);
  const agent = question === undefined ? undefined : model.agents.get(question.agent);
  model.questions.delete(fact.question);
  if (agent === undefined) return [];
  const { allow } = fact;
  return [{ type: "question-answered", at: event.at, ...whose(agent), id: `${event.tree}/${fact.question}`, allow }];
}
