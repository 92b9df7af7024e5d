/**
 * The readable model of a tree: what a picture of it needs. It is small, and folded from the tree's events alone
 * (fold-event.ts).
 *
 * Invariant: agent 0 is the root; the n-th run and the child that it made are both n, so the order of the map is spawn
 * order.
 */

import type { ModelPrice } from "../core/values/definition.ts";
import type { AgentNumber, StepKey } from "../core/values/ids.ts";
import type { Json } from "../core/values/json.ts";
import type { Usage } from "../core/values/message.ts";
import type { RunMode, RunState, RunStatus } from "../core/journal/journal.ts";
import type { AgentNamed, RunNamed } from "./readable-event.ts";

export interface ToolUnderWay {
  readonly name: string;
  /** The argument that best describes what it works on; empty if there is none. */
  readonly about: string;
}

export interface ModelRetry {
  /** The attempt that comes next: 2 after the first failure. */
  readonly attempt: number;
  readonly at: number;
}

export interface AgentModel {
  readonly number: AgentNumber;
  readonly id: string;
  readonly parent: AgentNumber | null;
  readonly name: string;
  readonly definition: string;
  readonly price: ModelPrice | null;
  /** True if its model is an offline one, whose tokens are not counted. */
  readonly offline: boolean;
  /** The run that made it; null for the root. */
  readonly run: RunModel | null;
  /** True during a turn. */
  turn: boolean;
  turns: number;
  /** How the newest turn ended. */
  outcome: "done" | "failed" | "cancelled" | null;
  reason: string | null;
  error: string | null;
  /** True while its model is called. */
  thinking: boolean;
  retry: ModelRetry | null;
  /** The provider's message about the last failed call; null after a successful call. */
  failure: string | null;
  tools: Map<StepKey, ToolUnderWay>;
  /** What an outside child says that it does now; null if it has said nothing. */
  doing: string | null;
  startedAt: number | null;
  endedAt: number | null;
  tokens: number;
  cost: number;
  /** The part of `tokens` that no provider counted. */
  estimated: number;
}

export interface RunModel {
  readonly id: string;
  readonly mode: RunMode;
  state: RunState;
  status: RunStatus | null;
  reason: string | null;
  /** Why it did not end well, in words. */
  error: string | null;
  report: string | null;
}

/** An open model call or tool call. */
export interface EffectModel {
  readonly agent: AgentNumber;
  readonly call: string | null;
  failures: number;
  /** What the session of an outside child has used so far; absent for a call. */
  session?: { readonly input: number; readonly output: number; readonly cost: number };
}

/** A call that waits for the user's answer. */
export interface QuestionModel {
  readonly agent: AgentNumber;
  readonly tool: string;
  readonly input: Json;
  readonly about: string;
}

/** An aborted model call, with the estimate that counts until the provider tells what it used. */
export interface AbortedModel {
  readonly agent: AgentNumber;
  readonly usage: Usage;
}

export interface TreeModel {
  tree: string;
  agents: Map<AgentNumber, AgentModel>;
  effects: Map<StepKey, EffectModel>;
  questions: Map<StepKey, QuestionModel>;
  aborted: Map<StepKey, AbortedModel>;
  /** Messages of children for the user, until they were passed on as they are. */
  relays: Map<StepKey, { readonly name: string; readonly text: string }>;
  /** Model and price of each definition, by its name. */
  definitions: Map<string, { readonly model: string; readonly price: ModelPrice | null }>;
  /** The time of the newest event. */
  at: number;
}

export function createTreeModel(): TreeModel {
  return {
    tree: "",
    agents: new Map(),
    effects: new Map(),
    questions: new Map(),
    aborted: new Map(),
    relays: new Map(),
    definitions: new Map(),
    at: 0,
  };
}

type NewAgent = Pick<AgentModel, "number" | "id" | "parent" | "name" | "definition" | "price" | "offline"> & {
  readonly run?: RunModel;
};

export function newAgent(given: NewAgent): AgentModel {
  return {
    ...given,
    run: given.run ?? null,
    turn: false,
    turns: 0,
    outcome: null,
    reason: null,
    error: null,
    thinking: false,
    retry: null,
    failure: null,
    tools: new Map(),
    doing: null,
    startedAt: null,
    endedAt: null,
    tokens: 0,
    cost: 0,
    estimated: 0,
  };
}

/** The agent's turn is over: forgets the calls and questions that it had open. */
export function endAgentWork(model: TreeModel, agent: AgentModel): void {
  agent.turn = false;
  agent.thinking = false;
  agent.retry = null;
  agent.tools.clear();
  agent.doing = null;
  for (const [key, effect] of model.effects) if (effect.agent === agent.number) model.effects.delete(key);
  for (const [key, question] of model.questions) if (question.agent === agent.number) model.questions.delete(key);
}

/** How an event names a run. */
export function runNamed(agent: AgentModel, run: RunModel): RunNamed {
  return { run: run.id, name: agent.name, definition: agent.definition };
}

/** How an event names an agent. */
export function agentNamed(agent: AgentModel): AgentNamed {
  return { agent: agent.id, name: agent.name };
}

/** True of the models that need no key and no network. They report no real usage. */
export function offlineIs(model: string): boolean {
  return model.startsWith("offline/");
}

/** True once the root has had a turn and the whole tree is idle. */
export function treeAtRest(model: TreeModel): boolean {
  return treeIdle(model) && model.agents.get(0)?.turns !== 0;
}

/** True while the whole tree is idle, also before its first turn. */
export function treeIdle(model: TreeModel): boolean {
  const root = model.agents.get(0);
  return root !== undefined && !root.turn && openRuns(model).length === 0;
}

/** True while nothing in the tree can continue before a user answers. */
export function treeParked(model: TreeModel): boolean {
  return (
    model.questions.size > 0 && model.effects.size === 0 && openRuns(model).every(({ run }) => run?.state !== "queued")
  );
}

/** The children whose runs have not ended. */
export function openRuns(model: TreeModel): AgentModel[] {
  return [...model.agents.values()].filter((agent) => agent.run !== null && agent.run.state !== "ended");
}

export interface TreeTotals {
  readonly runs: number;
  readonly ok: number;
  readonly notOk: number;
  readonly open: number;
  readonly queued: number;
  readonly tokens: number;
  readonly cost: number;
  /** The part of `tokens` that no provider counted. */
  readonly estimated: number;
  readonly elapsedMs: number;
}

export function treeTotals(model: TreeModel, now: number): TreeTotals {
  const agents = [...model.agents.values()];
  const runs = agents.flatMap((agent) => (agent.run === null ? [] : [agent.run]));
  const ended = runs.filter((run) => run.state === "ended");
  const ok = ended.filter((run) => run.status === "ok").length;
  const startedAt = model.agents.get(0)?.startedAt ?? now;
  return {
    runs: runs.length,
    ok,
    notOk: ended.length - ok,
    open: runs.length - ended.length,
    queued: runs.filter((run) => run.state === "queued").length,
    tokens: agents.reduce((sum, agent) => sum + agent.tokens, 0),
    cost: agents.reduce((sum, agent) => sum + agent.cost, 0),
    estimated: agents.reduce((sum, agent) => sum + agent.estimated, 0),
    elapsedMs: Math.max(0, now - startedAt),
  };
}
