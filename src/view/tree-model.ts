/**
 * What a picture of a tree needs to know of it: small, and folded from the tree's events alone (fold-event.ts).
 *
 * Invariant: agent 0 is the root; the n-th run and the child that it made are both n, so the order of the map is spawn order.
 */

import type { ModelPrice } from "../../core/values/definition.ts";
import type { AgentNumber, StepKey } from "../../core/values/ids.ts";
import type { Json } from "../../core/values/json.ts";
import type { Usage } from "../../core/values/message.ts";
import type { RunMode, RunState, RunStatus } from "../../core/journal/journal.ts";

export interface ToolUnderWay {
  readonly name: string;
  /** What it works on, as far as one word or path says it. */
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
  /** True if its model is an offline one, whose tokens are nothing that anybody counts. */
  readonly offline: boolean;
  /** The run that made it; null for the root. */
  readonly run: RunModel | null;
  /** True while a turn is under way. */
  turn: boolean;
  turns: number;
  /** How the newest turn ended. */
  outcome: "done" | "failed" | "cancelled" | null;
  reason: string | null;
  error: string | null;
  /** True while its model is called. */
  thinking: boolean;
  retry: ModelRetry | null;
  /** What its provider said when a call failed last; null once a call went well. */
  failure: string | null;
  tools: Map<StepKey, ToolUnderWay>;
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

/** A model call or a tool call that is under way. */
export interface EffectModel {
  readonly agent: AgentNumber;
  readonly call: string | null;
  failures: number;
}

/** A call that waits for the user's answer. */
export interface QuestionModel {
  readonly agent: AgentNumber;
  readonly tool: string;
  readonly input: Json;
  readonly about: string;
}

/** A model call that was given up, and what was booked for it until its wire tells. */
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
    definitions: new Map(),
    at: 0,
  };
}

/** True once the root has had a turn and nothing in the tree is under way any more. */
export function treeAtRest(model: TreeModel): boolean {
  return treeIdle(model) && model.agents.get(0)?.turns !== 0;
}

/** True while nothing in the tree is under way, be it that nothing ever was. */
export function treeIdle(model: TreeModel): boolean {
  const root = model.agents.get(0);
  return root !== undefined && !root.turn && openRuns(model).length === 0;
}

/** True while nothing in the tree can go on before a user answers. */
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
