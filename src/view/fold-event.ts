/**
 * Folds a tree's events into its readable model, and says what each of them changed.
 *
 * Invariants:
 *  1. The model and the readable events follow from the tree's events alone: the same events give the same results.
 *  2. An event whose input was rejected changed nothing in the tree and changes nothing here.
 *  3. Texts are passed on as they are in the journal. The code that shows them makes them harmless first.
 */

import type { Fact } from "../core/event.ts";
import { channelText } from "../core/text/prompts/channel-text.ts";
import { channelMessageKind } from "./channel-message.ts";
import type { DefinitionFacts } from "../core/values/definition.ts";
import { stepKey } from "../core/values/ids.ts";
import { jsonObjectIs } from "../core/values/json.ts";
import { callArguments, runName } from "./call-about.ts";
import {
  answerGiven,
  effectRepeated,
  modelAnswered,
  modelCalled,
  questionAsked,
  requestBegun,
  retrySet,
  toolCalled,
  toolFinished,
  usageEstimated,
  usageLearnt,
} from "./fold-calls.ts";
import { sessionSaid, sessionStarted } from "./fold-outside.ts";
import type { ReadableEvent } from "./readable-event.ts";
import { type FactOf, textAt, type TreeEvent } from "./tree-event.ts";
import { agentNamed, endAgentWork, newAgent, offlineIs, runNamed, type TreeModel } from "./tree-model.ts";

export function foldEvent(model: TreeModel, event: TreeEvent): ReadableEvent[] {
  model.tree = event.tree;
  model.at = Math.max(model.at, event.at);
  if (event.rejected !== null) return [];
  return event.facts.flatMap((fact) => foldFact(model, fact, event));
}

function foldFact(model: TreeModel, fact: Fact, event: TreeEvent): ReadableEvent[] {
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
    case "run-reported":
      return runReported(model, fact, at);
    case "run-ended":
      return runEnded(model, fact, event);
    case "message-sent":
      return messageForUser(model, fact, event);
    case "channel-sent":
      return channelSent(model, fact, event);
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
      return usageEstimated(model, fact, at);
    case "usage-learnt":
      return usageLearnt(model, fact, at);
    case "model-retry-set":
      return retrySet(model, fact, at);
    case "effect-repeated":
      return effectRepeated(model, fact.effect);
    case "tool-called":
      return toolCalled(model, fact, event);
    case "tool-finished":
      return toolFinished(model, fact, at);
    case "runner-started":
      return sessionStarted(model, fact, event.seq);
    case "runner-progressed":
    case "runner-asked":
    case "runner-reported":
    case "runner-ended":
      return sessionSaid(model, fact, event);
    case "question-asked":
      return questionAsked(model, fact, event);
    case "answer-given":
      return answerGiven(model, fact, event);
    default:
      return [];
  }
}

function treeOpened(model: TreeModel, fact: FactOf<"tree-opened">, at: number): ReadableEvent[] {
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

/**
 * From here on the events are those of a fork: its root has an id of its own, perhaps another definition, and only its
 * turn is under way.
 */
function treeForked(model: TreeModel, fact: FactOf<"tree-forked">, at: number): ReadableEvent[] {
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

function treeClosed(model: TreeModel, at: number): ReadableEvent[] {
  const root = model.agents.get(0);
  if (root === undefined) return [];
  endAgentWork(model, root);
  root.endedAt = at;
  return [];
}

function runCreated(model: TreeModel, fact: FactOf<"run-created">, event: TreeEvent): ReadableEvent[] {
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

function runMoved(model: TreeModel, fact: FactOf<"run-started" | "run-state-changed">, at: number): ReadableEvent[] {
  const agent = model.agents.get(fact.run);
  if (agent === undefined || agent.run === null) return [];
  if (fact.type === "run-started") {
    agent.run.state = "running";
    agent.startedAt = at;
    return [{ type: "run-started", at, ...runNamed(agent, agent.run) }];
  }
  agent.run.state = fact.state;
  return [{ type: "run-state-changed", at, ...runNamed(agent, agent.run), state: fact.state }];
}

function runReported(model: TreeModel, fact: FactOf<"run-reported">, at: number): ReadableEvent[] {
  const agent = model.agents.get(fact.run);
  if (agent === undefined || agent.run === null) return [];
  return [{ type: "run-reported", at, ...runNamed(agent, agent.run) }];
}

/** A child's message for the user goes to the agent above it first, which may pass it on as it is. */
function messageForUser(model: TreeModel, fact: FactOf<"message-sent">, event: TreeEvent): ReadableEvent[] {
  if (fact.kind !== "user-facing" || fact.call === undefined) return [];
  const { text } = callArguments(event.texts, fact.call);
  const name = model.agents.get(fact.from)?.name ?? "";
  model.relays.set(stepKey(event.seq, fact.n), { name, text: typeof text === "string" ? text : "" });
  return [];
}

function channelSent(model: TreeModel, fact: FactOf<"channel-sent">, event: TreeEvent): ReadableEvent[] {
  const agent = model.agents.get(fact.agent);
  if (agent === undefined) return [];
  const { tree, seq, at, texts } = event;
  const text = channelText(model.relays, fact, texts[0]);
  if (fact.relay !== undefined) model.relays.delete(fact.relay);
  const id = `${tree}/${stepKey(seq, fact.n)}`;
  return [{ type: "message", at, ...agentNamed(agent), id, kind: channelMessageKind(fact, texts[0]), text }];
}

function runEnded(model: TreeModel, fact: FactOf<"run-ended">, { at, texts }: TreeEvent): ReadableEvent[] {
  const agent = model.agents.get(fact.run);
  if (agent === undefined || agent.run === null) return [];
  endAgentWork(model, agent);
  const { status, report } = fact;
  const how = { status, reason: fact.reason ?? null, error: textAt(texts, fact.error), report };
  Object.assign(agent.run, { state: "ended", ...how });
  agent.endedAt = at;
  const { tokens, cost, startedAt } = agent;
  const elapsedMs = startedAt === null ? 0 : at - startedAt;
  return [{ type: "run-ended", at, ...runNamed(agent, agent.run), ...how, elapsedMs, tokens, cost }];
}

function turnStarted(model: TreeModel, fact: FactOf<"turn-started">, at: number): ReadableEvent[] {
  const agent = model.agents.get(fact.agent);
  if (agent === undefined) return [];
  agent.turn = true;
  agent.turns += 1;
  agent.outcome = null;
  agent.endedAt = null;
  return [{ type: "turn-started", at, ...agentNamed(agent), internal: fact.announcement !== undefined }];
}

function turnEnded(model: TreeModel, fact: FactOf<"turn-ended">, event: TreeEvent): ReadableEvent[] {
  const agent = model.agents.get(fact.agent);
  if (agent === undefined) return [];
  endAgentWork(model, agent);
  agent.outcome = fact.outcome;
  agent.reason = fact.reason ?? null;
  agent.error = textAt(event.texts, fact.error);
  if (agent.run === null) agent.endedAt = event.at;
  const { outcome, reason, error } = agent;
  return [{ type: "turn-ended", at: event.at, ...agentNamed(agent), outcome, reason, error }];
}

/** The whole tree was cancelled. The root then counts as cancelled, even if it had no turn and only waited for runs. */
function treeCancelled(model: TreeModel, fact: FactOf<"cancel-asked">, at: number): ReadableEvent[] {
  const root = model.agents.get(0);
  if (fact.run !== null || root === undefined) return [];
  root.outcome = "cancelled";
  root.endedAt = at;
  return [];
}
