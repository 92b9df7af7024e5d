/** What facts about announcements do to the state. */

import type { Fact } from "../event.ts";
import type { RunNumber } from "../ids.ts";
import type { AgentState, TreeState } from "../state.ts";
import { timerClear } from "../timers.ts";

type FactOf<Type extends Fact["type"]> = Extract<Fact, { type: Type }>;

export function applyAnnouncementQueued(state: TreeState, fact: FactOf<"announcement-queued">): void {
  const agent = state.agents.get(fact.agent);
  if (agent === undefined) return;
  if (agent.pending === null) agent.pending = { key: fact.key, runs: [], stragglers: [] };
  const pending = agent.pending;
  const announced = new Set(fact.runs);
  pending.runs = [...pending.runs, ...fact.runs].toSorted((a, b) => a - b);
  pending.stragglers = [...pending.stragglers.filter((run) => !announced.has(run)), ...(fact.stragglers ?? [])];
  batchTold(state, agent, announced);
}

/** Runs that are told leave their batches; a batch that is told whole is over. */
export function batchTold(state: TreeState, agent: AgentState, told: ReadonlySet<RunNumber>): void {
  for (const batch of agent.batches.values()) {
    batch.ended = batch.ended.filter((run) => !told.has(run));
    if (batch.open.size > 0 || batch.ended.length > 0) continue;
    agent.batches.delete(batch.key);
    timerClear(state.timers, `barrier:${agent.number}:${batch.key}`);
  }
}

export function applyAnnouncementBlocked(state: TreeState, fact: FactOf<"announcement-blocked">): void {
  state.agents.get(fact.agent)?.blocked.push(fact.key);
}

export function applyBarrierPassed(state: TreeState, fact: FactOf<"barrier-passed">): void {
  const batch = state.agents.get(fact.agent)?.batches.get(fact.batch);
  if (batch !== undefined) batch.passed = true;
}
