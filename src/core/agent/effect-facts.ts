/** What facts about model calls, tool calls and their results do to the state. */

import type { FactOf } from "../event.ts";
import type { OpenEffect, StateHandlers, TreeState } from "../state.ts";
import { modelCost } from "../values/definition.ts";
import { type AgentNumber, stepKey, type StepKey } from "../values/ids.ts";
import type { Usage } from "../values/message.ts";
import { budgetLeave, effectDrop, runForget } from "./agent-facts.ts";
import { turnClockSet } from "./turn-clock.ts";

/** How long an aborted call waits for the provider's usage report. */
const USAGE_REPORT_MS = 60_000;

export function effectOpen(
  state: TreeState,
  key: StepKey,
  effect: Partial<OpenEffect> & Pick<OpenEffect, "kind" | "agent">,
): void {
  state.effects.set(key, {
    attempt: 1,
    underWay: true,
    failures: 0,
    call: null,
    name: null,
    safe: false,
    granted: false,
    seen: null,
    compaction: false,
    reserved: null,
    used: { tokens: 0, cost: 0 },
    retryAt: null,
    ...effect,
  });
}

/** Books what a call used. Returns it, or null if the usage is not known. */
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

/** The model call of the agent's turn is over. */
function modelDone(state: TreeState, number: AgentNumber, key: StepKey, at: number): void {
  effectDrop(state, key);
  const agent = state.agents.get(number);
  if (agent === undefined) return;
  if (agent.turn?.model === key) agent.turn.model = null;
  turnClockSet(state, agent, at);
}

function callAnswered(
  state: TreeState,
  number: AgentNumber,
  { call, size, failed }: Pick<FactOf<"tool-answered">, "call" | "size" | "failed">,
  at: number,
): void {
  const agent = state.agents.get(number);
  if (agent === undefined || agent.turn === null) return;
  if (failed === true) agent.turn.replyFailed = true;
  const open = agent.turn.calls.get(call);
  if (open !== undefined && open.effect !== null) {
    effectDrop(state, open.effect);
    agent.turn.working -= 1;
    turnClockSet(state, agent, at);
  }
  if (open !== undefined && open.question !== null) state.questions.delete(open.question);
  agent.turn.calls.delete(call);
  agent.bytesSince += size;
}

export const effectFacts = {
  "model-called"(state, fact, { seq, at }) {
    const agent = state.agents.get(fact.agent);
    if (agent === undefined || agent.turn === null) return;
    const key = stepKey(seq, fact.n);
    const compaction = fact.purpose === "compaction";
    if (!compaction) agent.turn.iterations += 1;
    agent.turn.model = key;
    turnClockSet(state, agent, at);
    budgetLeave(state, fact.agent);
    state.requestCalls.used += 1;
    effectOpen(state, key, { kind: "model", agent: fact.agent, compaction, reserved: fact.reserved ?? null });
    if (fact.reserved === undefined) return;
    state.ledger.reservedTokens += fact.reserved.tokens;
    state.ledger.reservedCost += fact.reserved.cost;
  },

  "usage-estimated"(state, fact, { at }) {
    const booked = book(state, fact.agent, fact.usage);
    const effect = state.effects.get(fact.effect);
    const agent = state.agents.get(fact.agent);
    if (fact.aborted !== true || booked === null || effect === undefined || agent === undefined) return;
    for (const [key, aborted] of state.aborted) if (at - aborted.at > USAGE_REPORT_MS) state.aborted.delete(key);
    const run = state.runs.get(fact.agent);
    state.aborted.set(fact.effect, {
      attempt: effect.attempt,
      at,
      price: agent.definition.price,
      ...booked,
      run: run === undefined ? null : { number: run.number, tokens: run.tokens, cost: run.cost },
    });
    modelDone(state, fact.agent, fact.effect, at);
  },

  "usage-learnt"(state, { effect, usage }) {
    const call = state.aborted.get(effect);
    if (call === undefined) return;
    state.ledger.tokens += usage.input + usage.output - call.tokens;
    state.ledger.cost += modelCost(call.price, usage) - call.cost;
    state.aborted.delete(effect);
  },

  "run-settled"(state, { run: number, tokens, cost }) {
    const run = state.runs.get(number);
    if (run !== undefined) Object.assign(run, { tokens, cost });
  },

  "model-replied"(state, fact, { at }) {
    const effect = state.effects.get(fact.effect);
    if (effect === undefined) return;
    book(state, effect.agent, fact.usage);
    modelDone(state, effect.agent, fact.effect, at);
    const agent = state.agents.get(effect.agent);
    if (agent === undefined || agent.turn === null || effect.compaction) return;
    // A refusal does not enter the context, so the reply before it stays the newest one.
    if (fact.stop !== "refused") {
      agent.turn.replyReported = false;
      agent.turn.replyFailed = false;
    }
    if (fact.usage === null) {
      agent.bytesSince += fact.size;
    } else {
      agent.tokensKnown = fact.usage.input + fact.usage.output;
      agent.bytesSince = 0;
    }
  },

  "model-failed"(state, fact) {
    const effect = state.effects.get(fact.effect);
    if (effect === undefined) return;
    effect.failures += 1;
    effect.underWay = false;
    book(state, effect.agent, fact.usage);
  },

  "turn-model-dropped"(state, fact, { at }) {
    const turn = state.agents.get(fact.agent)?.turn ?? null;
    if (turn === null || turn.model === null) return;
    if (state.effects.get(turn.model)?.compaction !== true) turn.iterations -= 1;
    modelDone(state, fact.agent, turn.model, at);
  },

  "model-retry-set"(state, fact) {
    const effect = state.effects.get(fact.effect);
    if (effect === undefined) return;
    effect.retryAt = fact.at;
    state.timers.set(`retry:${fact.effect}`, fact.at);
  },

  "effect-repeated"(state, fact) {
    const effect = state.effects.get(fact.effect);
    if (effect === undefined) return;
    effect.attempt = fact.attempt;
    effect.underWay = true;
    effect.retryAt = null;
    state.timers.delete(`retry:${fact.effect}`);
    if (effect.kind === "model") state.requestCalls.used += 1;
    effect.used = { tokens: 0, cost: 0 };
  },

  "budget-awaited"(state, { agent }) {
    if (!state.budgetQueue.includes(agent)) state.budgetQueue.push(agent);
  },

  "limit-neared"(state, { limit }) {
    state.neared.add(limit);
  },

  "tool-called"(state, fact, { seq, at }) {
    const agent = state.agents.get(fact.agent);
    if (agent === undefined || agent.turn === null) return;
    const { turn } = agent;
    const { call, name } = fact;
    const key = stepKey(seq, fact.n);
    turn.working += 1;
    turnClockSet(state, agent, at);
    turn.calls.set(call, { id: call, name, effect: key, run: null, question: null, final: false });
    effectOpen(state, key, {
      kind: fact.read === true ? "read" : "tool",
      agent: fact.agent,
      call,
      name,
      safe: fact.safe === true || fact.read === true,
      granted: fact.granted === true,
      seen: fact.seen ?? null,
    });
  },

  "tool-finished"(state, fact, { at }) {
    const effect = state.effects.get(fact.effect);
    if (effect === undefined || effect.call === null) return;
    const agent = state.agents.get(effect.agent);
    if (agent !== undefined) {
      if (effect.kind === "tool") agent.longestResult = Math.max(agent.longestResult, fact.size);
      if (fact.whole !== undefined) agent.hasCutResult = true;
    }
    callAnswered(state, effect.agent, { ...fact, call: effect.call }, at);
  },

  "tool-answered"(state, fact, { at }) {
    callAnswered(state, fact.agent, fact, at);
    if (fact.run !== undefined) runForget(state, fact.run);
  },

  "erasure-asked"(state, { run, n }, { seq }) {
    effectOpen(state, stepKey(seq, n), { kind: "erase", agent: run, safe: true });
  },

  "texts-erased"(state, { effect }) {
    state.effects.delete(effect);
  },
} satisfies Partial<StateHandlers>;
