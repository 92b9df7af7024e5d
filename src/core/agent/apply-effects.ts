/** What facts about model calls, tool calls and their results do to the state. */

import type { Fact } from "../event.ts";
import { type AgentNumber, stepKey, type StepKey } from "../ids.ts";
import type { Usage } from "../message.ts";
import { modelCost } from "./prices.ts";
import type { OpenEffect, TreeState } from "../state.ts";
import { timerClear, timerSet } from "../timers.ts";
import { effectDrop, runForget } from "./apply-agent.ts";
import type { Place } from "../place.ts";

type FactOf<Type extends Fact["type"]> = Extract<Fact, { type: Type }>;

function effectOpen(
  state: TreeState,
  key: StepKey,
  {
    kind,
    agent,
    call,
    name,
    safe,
    granted,
    seen,
    compaction,
    reserved,
  }: Partial<OpenEffect> & Pick<OpenEffect, "kind" | "agent">,
): void {
  state.effects.set(key, {
    attempt: 1,
    underWay: true,
    failures: 0,
    call: call ?? null,
    name: name ?? null,
    safe: safe ?? false,
    granted: granted ?? false,
    seen: seen ?? null,
    compaction: compaction ?? false,
    reserved: reserved ?? null,
    retryAt: null,
    kind,
    agent,
  });
}

export function applyModelCalled(state: TreeState, fact: FactOf<"model-called">, place: Place): void {
  const turn = state.agents.get(fact.agent)?.turn;
  if (turn === null || turn === undefined) return;
  const key = stepKey(place.seq, fact.n);
  const compaction = fact.purpose === "compaction";
  if (!compaction) turn.iterations += 1;
  turn.model = key;
  if (state.budgetQueue.length > 0) state.budgetQueue = state.budgetQueue.filter((agent) => agent !== fact.agent);
  state.requestCalls.used += 1;
  effectOpen(state, key, { kind: "model", agent: fact.agent, compaction, reserved: fact.reserved ?? null });
  if (fact.reserved !== undefined) {
    state.ledger.reservedTokens += fact.reserved.tokens;
    state.ledger.reservedCost += fact.reserved.cost;
  }
}

/** How long the usage of a call that was given up is waited for: longer than any wire takes to tell. */
const ABORTED_KEPT_MS = 60_000;

/** Books what a call used, as far as it is known; what is not follows as an estimate. */
function book(state: TreeState, number: AgentNumber, usage: Usage | null): { tokens: number; cost: number } | null {
  const agent = state.agents.get(number);
  if (agent === undefined || usage === null) return null;
  const tokens = usage.input + usage.output;
  const cost = modelCost(agent.definition.price, usage);
  state.ledger.tokens += tokens;
  state.ledger.cost += cost;
  const run = state.runs.get(number);
  if (run !== undefined) {
    run.tokens += tokens;
    run.cost += cost;
  }
  return { tokens, cost };
}

export function applyUsageEstimated(state: TreeState, fact: FactOf<"usage-estimated">, place: Place): void {
  const booked = book(state, fact.agent, fact.usage);
  const effect = state.effects.get(fact.effect);
  const agent = state.agents.get(fact.agent);
  if (fact.aborted !== true || booked === null || effect === undefined || agent === undefined) return;
  for (const [key, { at }] of state.aborted) if (place.at - at > ABORTED_KEPT_MS) state.aborted.delete(key);
  const run = state.runs.get(fact.agent);
  state.aborted.set(fact.effect, {
    attempt: effect.attempt,
    at: place.at,
    price: agent.definition.price,
    ...booked,
    run: run === undefined ? null : { number: run.number, tokens: run.tokens, cost: run.cost },
  });
  effectDrop(state, fact.effect);
  if (agent.turn?.model === fact.effect) agent.turn.model = null;
}

export function applyUsageLearnt(state: TreeState, fact: FactOf<"usage-learnt">): void {
  const call = state.aborted.get(fact.effect);
  if (call === undefined) return;
  state.ledger.tokens += fact.usage.input + fact.usage.output - call.tokens;
  state.ledger.cost += modelCost(call.price, fact.usage) - call.cost;
  state.aborted.delete(fact.effect);
}

export function applyRunSettled(state: TreeState, fact: FactOf<"run-settled">): void {
  const run = state.runs.get(fact.run);
  if (run === undefined) return;
  run.tokens = fact.tokens;
  run.cost = fact.cost;
}

export function applyModelReplied(state: TreeState, fact: FactOf<"model-replied">): void {
  const effect = state.effects.get(fact.effect);
  if (effect === undefined) return;
  book(state, effect.agent, fact.usage);
  effectDrop(state, fact.effect);
  const agent = state.agents.get(effect.agent);
  if (agent === undefined || agent.turn === null) return;
  agent.turn.model = null;
  if (effect.compaction) return;
  // A refusal does not enter the context: the reply before it stays the newest one.
  if (fact.stop !== "refused") {
    agent.turn.reported = false;
    agent.turn.failed = false;
  }
  if (fact.said === true) agent.said = true;
  if (fact.usage === null) {
    agent.bytesSince += fact.size;
  } else {
    agent.tokensKnown = fact.usage.input + fact.usage.output;
    agent.bytesSince = 0;
  }
}

export function applyModelFailed(state: TreeState, fact: FactOf<"model-failed">): void {
  const effect = state.effects.get(fact.effect);
  if (effect === undefined) return;
  effect.failures += 1;
  effect.underWay = false;
  book(state, effect.agent, fact.usage);
}

export function applyTurnModelDropped(state: TreeState, fact: FactOf<"turn-model-dropped">): void {
  const turn = state.agents.get(fact.agent)?.turn;
  if (turn === null || turn === undefined || turn.model === null) return;
  if (state.effects.get(turn.model)?.compaction !== true) turn.iterations -= 1;
  effectDrop(state, turn.model);
  turn.model = null;
}

export function applyModelRetrySet(state: TreeState, fact: FactOf<"model-retry-set">): void {
  const effect = state.effects.get(fact.effect);
  if (effect === undefined) return;
  effect.retryAt = fact.at;
  timerSet(state.timers, `retry:${fact.effect}`, fact.at);
}

export function applyEffectRepeated(state: TreeState, fact: FactOf<"effect-repeated">): void {
  const effect = state.effects.get(fact.effect);
  if (effect === undefined) return;
  effect.attempt = fact.attempt;
  effect.underWay = true;
  if (effect.kind === "model") state.requestCalls.used += 1;
  effect.retryAt = null;
  timerClear(state.timers, `retry:${fact.effect}`);
}

export function applyToolCalled(state: TreeState, fact: FactOf<"tool-called">, place: Place): void {
  const turn = state.agents.get(fact.agent)?.turn;
  if (turn === null || turn === undefined) return;
  const key = stepKey(place.seq, fact.n);
  turn.calls.set(fact.call, { id: fact.call, name: fact.name, effect: key, run: null, question: null, final: false });
  effectOpen(state, key, {
    kind: fact.read === true ? "read" : "tool",
    agent: fact.agent,
    call: fact.call,
    name: fact.name,
    safe: fact.safe === true || fact.read === true,
    granted: fact.granted === true,
    seen: fact.seen ?? null,
  });
}

function callAnswered(state: TreeState, number: AgentNumber, call: string, size: number, failed: boolean): void {
  const agent = state.agents.get(number);
  if (agent === undefined || agent.turn === null) return;
  if (failed) agent.turn.failed = true;
  const open = agent.turn.calls.get(call);
  if (open !== undefined && open.effect !== null) effectDrop(state, open.effect);
  if (open !== undefined && open.question !== null) state.questions.delete(open.question);
  agent.turn.calls.delete(call);
  agent.bytesSince += size;
}

export function applyToolFinished(state: TreeState, fact: FactOf<"tool-finished">): void {
  const effect = state.effects.get(fact.effect);
  if (effect === undefined || effect.call === null) return;
  const agent = state.agents.get(effect.agent);
  if (agent !== undefined && effect.kind === "tool" && fact.size > 0) {
    agent.toolEnded = true;
    agent.longestResult = Math.max(agent.longestResult, fact.size);
  }
  callAnswered(state, effect.agent, effect.call, fact.size, fact.failed === true);
}

export function applyToolAnswered(state: TreeState, fact: FactOf<"tool-answered">): void {
  callAnswered(state, fact.agent, fact.call, fact.size, fact.failed === true);
  if (fact.run !== undefined) runForget(state, fact.run);
}

export function applyErasureAsked(state: TreeState, fact: FactOf<"erasure-asked">, place: Place): void {
  effectOpen(state, stepKey(place.seq, fact.n), { kind: "erase", agent: fact.run, safe: true });
}

export function applyTextsErased(state: TreeState, fact: FactOf<"texts-erased">): void {
  state.effects.delete(fact.effect);
}
