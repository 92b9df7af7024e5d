/**
 * Issuing a model call, and aborting the open calls of a turn. A call is issued only within the iterations of the
 * turn, the model calls of the request, the budget of the tree and the window of the model.
 */

import { agentWithUser } from "../delegation/send-user-message.ts";
import { MODEL_CALLS } from "../text/prompts/question-text.ts";
import { onlyClosingCallLeft } from "../reports/final-report.ts";
import { setRunState } from "../runs/run-state.ts";
import type { AgentState } from "../state.ts";
import type { Deciding } from "../step.ts";
import { modelCost } from "../values/definition.ts";
import type { StepKey } from "../values/ids.ts";
import type { Usage } from "../values/message.ts";

/** Average bytes of text in a token, in the languages and code that models mostly read. */
const BYTES_PER_TOKEN = 4;
/** Tokens of output that a call reserves. */
const OUTPUT_TOKENS = 1_024;
/** Older turns are summarised when the context takes more than this part of the model's window. */
const WINDOW_SHARE = 0.8;
/** The part of a budget that only nudges, announcements and compaction may use. */
const RESERVE_SHARE = 0.05;
/** A limit is reported as near when this part of it is used. */
const WARN_SHARE = 0.8;

/** An estimate of the tokens in the agent's context. */
export function contextTokens(agent: AgentState): number {
  return agent.tokensKnown + Math.ceil(agent.bytesSince / BYTES_PER_TOKEN);
}

/** An estimate of what a call uses. */
export function estimatedUsage(agent: AgentState): Usage {
  return { input: contextTokens(agent), output: OUTPUT_TOKENS, estimated: true };
}

/** The next call of the agent's turn, if it has an iteration left. */
export function callModel(d: Deciding, agent: AgentState): void {
  const { turn, number, maxIterations } = agent;
  if (turn === null) return;
  if (turn.iterations >= maxIterations + (turn.nudge === null ? 0 : 1)) {
    if (turn.nudge === "report") return d.later({ do: "end-turn", agent: number });
    return d.later({ do: "fail-turn", agent: number, end: { status: "error", reason: "iteration-limit" } });
  }
  const { window } = agent.definition;
  const tooLong = window !== null && contextTokens(agent) > window * WINDOW_SHARE;
  issueCall(d, agent, tooLong && !turn.compacted && agent.turns > 1);
}

export function issueCall(d: Deciding, agent: AgentState, compaction: boolean): void {
  const { number, definition } = agent;
  const { limits } = d.settings;
  // Trees of earlier revisions were opened without this limit.
  const mostCalls: number | undefined = limits.modelCallsPerRequest;
  if (mostCalls !== undefined && d.state.requestCalls.used >= mostCalls) return callsUsedUp(d, agent, mostCalls);
  if (limits.costPerTree !== null && definition.price === null) {
    const error = priceUnknown(definition.model);
    return d.later({ do: "fail-turn", agent: number, end: { status: "error", reason: "price-unknown", error } });
  }
  const room = reserve(d, agent, compaction);
  if (room.refused !== null) {
    if (room.mayWait && !onlyClosingCallLeft(agent)) return d.emit({ type: "budget-awaited", agent: number });
    return d.later({ do: "fail-turn", agent: number, end: { status: "error", reason: room.refused } });
  }
  setRunState(d, number, "running");
  const n = d.number();
  const purpose = compaction ? "compaction" : undefined;
  d.emit({ type: "model-called", agent: number, n, purpose, reserved: room.reserved ?? undefined });
  d.effect({ type: "call-model", key: d.key(n), attempt: 1, agent: number });
  warnIfNear(d);
}

/** Why a model of unknown price cannot be used under a limit of money, and what to do. */
export function priceUnknown(model: string): string {
  const problem = `the price of ${model} is not known, so that costPerTree cannot be kept`;
  return `${problem}; give its price, or limit tokensPerTree instead`;
}

/** The request has used its model calls. A person who is there is asked for more, and all calls wait. */
function callsUsedUp(d: Deciding, agent: AgentState, calls: number): void {
  const { requestCalls, rights } = d.state;
  const { number } = agent;
  const asks = requestCalls.question !== null || (rights?.asks === true && !requestCalls.refused);
  if (!asks || onlyClosingCallLeft(agent)) {
    const remedy = "a new message goes on, limits.modelCallsPerRequest allows more";
    const error = `this request has used its ${calls} model calls; ${remedy}`;
    return d.later({ do: "fail-turn", agent: number, end: { status: "error", reason: "model-call-limit", error } });
  }
  d.emit({ type: "budget-awaited", agent: number });
  if (requestCalls.question === null) {
    const to = agentWithUser(d, agent)?.number;
    d.emit({ type: "question-asked", agent: number, n: d.number(), calls, name: MODEL_CALLS, to });
  }
  setRunState(d, number, "needs_input");
}

interface Room {
  readonly refused: "token-limit" | "cost-limit" | null;
  /** True if running calls may leave enough room when their usage is known. */
  readonly mayWait: boolean;
  readonly reserved: { readonly tokens: number; readonly cost: number } | null;
}

/** Reserves what the call will probably use, if the tree has a budget. */
function reserve(d: Deciding, agent: AgentState, compaction: boolean): Room {
  const { tokensPerTree, costPerTree } = d.settings.limits;
  if (tokensPerTree === null && costPerTree === null) return { refused: null, mayWait: false, reserved: null };
  const usage = estimatedUsage(agent);
  const tokens = usage.input + usage.output;
  const cost = modelCost(agent.definition.price, usage);
  const { turn } = agent;
  const usesReserve = compaction || turn === null || turn.nudge !== null || turn.announcement !== null;
  const share = usesReserve ? 1 : 1 - RESERVE_SHARE;
  const { ledger } = d.state;
  const budgets = [
    ["token-limit", tokensPerTree, ledger.tokens + tokens, ledger.reservedTokens],
    ["cost-limit", costPerTree, ledger.cost + cost, ledger.reservedCost],
  ] as const;
  for (const [refused, most, used, reserved] of budgets) {
    if (most === null || used + reserved <= most * share) continue;
    return { refused, mayWait: reserved > 0 && used <= most * share, reserved: null };
  }
  return { refused: null, mayWait: false, reserved: { tokens, cost } };
}

/** Reports once that a limit is near. */
export function warnIfNear(d: Deciding): void {
  const { limits } = d.settings;
  const { ledger, runsCreated, neared } = d.state;
  const uses = [
    ["tokensPerTree", ledger.tokens + ledger.reservedTokens],
    ["costPerTree", ledger.cost + ledger.reservedCost],
    ["runsPerTree", runsCreated],
  ] as const;
  for (const [limit, used] of uses) {
    const most = limits[limit];
    if (most !== null && used >= most * WARN_SHARE && !neared.has(limit)) d.emit({ type: "limit-neared", limit, used });
  }
}

/** Agents whose call waits for room try again, in the order in which they began to wait. */
export function retryBudget(d: Deciding): void {
  if (d.state.requestCalls.question !== null) return;
  for (const number of d.state.budgetQueue.slice()) {
    const agent = d.state.agents.get(number);
    if (agent !== undefined && agent.turn !== null && agent.turn.model === null) callModel(d, agent);
  }
}

/** Issues a call again under the same key, as a new attempt. Results of the earlier attempt are rejected. */
export function callModelAgain(d: Deciding, key: StepKey): void {
  const effect = d.state.effects.get(key);
  if (effect === undefined || effect.kind !== "model") return;
  const attempt = effect.attempt + 1;
  d.emit({ type: "effect-repeated", effect: key, attempt });
  d.effect({ type: "call-model", key, attempt, agent: effect.agent });
}

/** Aborts the open calls of the agent's turn. The usage of an aborted model call is booked as an estimate. */
export function abortTurn(d: Deciding, agent: AgentState): void {
  const { turn, number } = agent;
  if (turn === null) return;
  for (const { effect } of turn.calls.values()) if (effect !== null) d.effect({ type: "abort", key: effect });
  const { model } = turn;
  const effect = model === null ? undefined : d.state.effects.get(model);
  if (model === null || effect?.underWay !== true) return;
  d.effect({ type: "abort", key: model });
  // A session of an outside child has told what it used.
  if (effect.kind === "runner") return;
  d.emit({ type: "usage-estimated", agent: number, effect: model, usage: estimatedUsage(agent), aborted: true });
}
