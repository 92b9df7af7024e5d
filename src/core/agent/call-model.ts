/**
 * Issuing a model call: within the iterations of the turn, the model calls of the request, the budget of the tree and the window of the model.
 */

import type { Deciding } from "../deciding.ts";
import type { StepKey } from "../ids.ts";
import type { Usage } from "../message.ts";
import { agentWithUser } from "../inbox/send-user-message.ts";
import { MODEL_CALLS } from "../questions/question-text.ts";
import { closingCall } from "../reports/final-report.ts";
import { runIs } from "../runs/run-state.ts";
import type { AgentState } from "../state.ts";
import { modelCost } from "./prices.ts";

/** Bytes of text that are about one token, in the languages and code that models mostly read. */
const BYTES_PER_TOKEN = 4;
/** Tokens of output that a call is reserved for. */
const OUTPUT_TOKENS = 1_024;
/** The part of a model's window at which older turns are summarised. */
const WINDOW_SHARE = 0.8;
/** The part of a budget that is kept for nudges, announcements and compaction: what brings results home. */
const RESERVE_SHARE = 0.05;
/** The part of a limit at which it is said to be near. */
const WARN_SHARE = 0.8;

/** What the agent's context is thought to hold. */
export function contextTokens(agent: AgentState): number {
  return agent.tokensKnown + Math.ceil(agent.bytesSince / BYTES_PER_TOKEN);
}

/** What a call is thought to use, where nobody says what it used. */
export function estimatedUsage(agent: AgentState): Usage {
  return { input: contextTokens(agent), output: OUTPUT_TOKENS, estimated: true };
}

export function callModel(d: Deciding, agent: AgentState): void {
  const turn = agent.turn;
  if (turn === null) return;
  const cap = agent.maxIterations + (turn.nudge === null ? 0 : 1);
  if (turn.iterations >= cap) {
    if (turn.nudge === "report") return d.later({ do: "end-turn", agent: agent.number });
    d.later({ do: "fail-turn", agent: agent.number, end: { status: "error", reason: "iteration-limit" } });
    return;
  }
  const window = agent.definition.window;
  const compaction =
    window !== null && !turn.compacted && agent.turns > 1 && contextTokens(agent) > window * WINDOW_SHARE;
  issueCall(d, agent, compaction);
}

export function issueCall(d: Deciding, agent: AgentState, compaction: boolean): void {
  if (callsUsedUp(d)) return callsEnd(d, agent);
  if (d.settings.limits.costPerTree !== null && agent.definition.price === null) {
    const error = priceUnknown(agent.definition.model);
    return d.later({ do: "fail-turn", agent: agent.number, end: { status: "error", reason: "price-unknown", error } });
  }
  const room = reserve(d, agent, compaction);
  if (room.refused !== null) {
    if (room.mayWait && !closingCall(agent)) return d.emit({ type: "budget-awaited", agent: agent.number });
    d.later({ do: "fail-turn", agent: agent.number, end: { status: "error", reason: room.refused } });
    return;
  }
  runIs(d, agent.number, "running");
  const n = d.number();
  d.emit({
    type: "model-called",
    agent: agent.number,
    n,
    purpose: compaction ? "compaction" : undefined,
    reserved: room.reserved ?? undefined,
  });
  d.effect({ type: "call-model", key: d.key(n), attempt: 1, agent: agent.number });
  warn(d);
}

/** Why a model of unknown price cannot be used under a limit of money, and what to do. */
export function priceUnknown(model: string): string {
  return `the price of ${model} is not known, so that costPerTree cannot be kept; give its price, or limit tokensPerTree instead`;
}

/** True if the request has used its model calls. Trees of earlier revisions were opened without this limit. */
function callsUsedUp({ settings, state }: Deciding): boolean {
  const most: number | undefined = settings.limits.modelCallsPerRequest;
  return most !== undefined && state.requestCalls.used >= most;
}

/** Where a person is there, they are asked once whether the request may go on, and all calls wait; else the turn ends. */
function callsEnd(d: Deciding, agent: AgentState): void {
  const { requestCalls, rights } = d.state;
  const most = d.settings.limits.modelCallsPerRequest;
  const asks = requestCalls.question !== null || (rights?.asks === true && !requestCalls.refused);
  if (!asks || closingCall(agent)) {
    const error = `this request has used its ${most} model calls; a new message goes on, limits.modelCallsPerRequest allows more`;
    d.later({ do: "fail-turn", agent: agent.number, end: { status: "error", reason: "model-call-limit", error } });
    return;
  }
  d.emit({ type: "budget-awaited", agent: agent.number });
  if (requestCalls.question === null) {
    const to = agentWithUser(d, agent)?.number;
    d.emit({ type: "question-asked", agent: agent.number, n: d.number(), calls: most, name: MODEL_CALLS, to });
  }
  runIs(d, agent.number, "needs_input");
}

interface Room {
  readonly refused: "token-limit" | "cost-limit" | null;
  /** True if calls under way may still leave room when they are settled. */
  readonly mayWait: boolean;
  readonly reserved: { readonly tokens: number; readonly cost: number } | null;
}

/** Sets aside what the call will probably use, where the tree has a budget. */
function reserve(d: Deciding, agent: AgentState, compaction: boolean): Room {
  const { tokensPerTree, costPerTree } = d.settings.limits;
  if (tokensPerTree === null && costPerTree === null) return { refused: null, mayWait: false, reserved: null };
  const usage = estimatedUsage(agent);
  const tokens = usage.input + usage.output;
  const cost = modelCost(agent.definition.price, usage);
  const housekeeping =
    compaction || agent.turn === null || agent.turn.nudge !== null || agent.turn.announcement !== null;
  const share = housekeeping ? 1 : 1 - RESERVE_SHARE;
  const { ledger } = d.state;
  if (tokensPerTree !== null && ledger.tokens + ledger.reservedTokens + tokens > tokensPerTree * share) {
    const mayWait = ledger.reservedTokens > 0 && ledger.tokens + tokens <= tokensPerTree * share;
    return { refused: "token-limit", mayWait, reserved: null };
  }
  if (costPerTree !== null && ledger.cost + ledger.reservedCost + cost > costPerTree * share) {
    const mayWait = ledger.reservedCost > 0 && ledger.cost + cost <= costPerTree * share;
    return { refused: "cost-limit", mayWait, reserved: null };
  }
  return { refused: null, mayWait: false, reserved: { tokens, cost } };
}

/** Says once when a limit is near, so that a person can raise it or step in. */
export function warn(d: Deciding): void {
  const { tokensPerTree, costPerTree, runsPerTree } = d.settings.limits;
  const { ledger, runsCreated } = d.state;
  near(d, "tokensPerTree", ledger.tokens + ledger.reservedTokens, tokensPerTree);
  near(d, "costPerTree", ledger.cost + ledger.reservedCost, costPerTree);
  near(d, "runsPerTree", runsCreated, runsPerTree);
}

function near(
  d: Deciding,
  limit: "tokensPerTree" | "costPerTree" | "runsPerTree",
  used: number,
  most: number | null,
): void {
  if (most === null || used < most * WARN_SHARE || d.state.neared.has(limit)) return;
  d.emit({ type: "limit-neared", limit, used });
}

/** Agents whose call waited for room try again, in the order in which they began to wait. */
export function spend(d: Deciding): void {
  if (d.state.requestCalls.question !== null) return;
  for (const number of d.state.budgetQueue.slice()) {
    const agent = d.state.agents.get(number);
    if (agent !== undefined && agent.turn !== null && agent.turn.model === null) callModel(d, agent);
  }
}

/** Issues an effect again under the same key, as a new attempt: results of the earlier one are late from here on. */
export function callModelAgain(d: Deciding, key: StepKey): void {
  const effect = d.state.effects.get(key);
  if (effect === undefined || effect.kind !== "model") return;
  const attempt = effect.attempt + 1;
  d.emit({ type: "effect-repeated", effect: key, attempt });
  d.effect({ type: "call-model", key, attempt, agent: effect.agent });
}
