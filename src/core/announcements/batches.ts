/** Batches: background runs of one parent that are announced together, or when their barrier passes (rule D3). */

import type { Deciding } from "../step.ts";
import type { AgentState, StateHandlers, TreeState } from "../state.ts";
import type { AgentNumber, RunNumber } from "../values/ids.ts";

/** Announces the ended runs of a batch once all its runs have ended, or once its barrier has passed. */
export function completeBatch(d: Deciding, agent: AgentState, key: string): void {
  const batch = agent.batches.get(key);
  if (batch === undefined || batch.ended.length === 0) return;
  if (batch.turn !== null && batch.turn === agent.turn?.number) return;
  if (batch.open.size > 0 && !batch.passed) return;
  announce(d, agent, batch.ended, []);
}

/** Puts ended runs into the agent's pending announcement, or into a new one. */
export function announce(
  d: Deciding,
  agent: AgentState,
  runs: readonly RunNumber[],
  stragglers: readonly RunNumber[],
): void {
  d.emit({
    type: "announcement-queued",
    agent: agent.number,
    key: agent.pending?.key ?? d.key(d.number()),
    runs: runs.toSorted((a, b) => a - b),
    ...(stragglers.length === 0 ? {} : { stragglers }),
  });
}

/** The barrier passed: ended members are announced now, each other member when it ends. */
export function passBarrier(d: Deciding, number: AgentNumber, key: string): void {
  const agent = d.state.agents.get(number);
  const batch = agent?.batches.get(key);
  if (agent === undefined || batch === undefined || batch.open.size === 0) return;
  d.emit({ type: "barrier-passed", agent: number, batch: key });
  if (batch.ended.length === 0) return;
  announce(d, agent, batch.ended, [...batch.open]);
  d.later({ do: "next-turn", agent: number });
}

/** Adds a run to the batch of its group, or of the turn that starts it, or to its own. Returns the batch's key. */
export function batchJoin(
  state: TreeState,
  parent: AgentState,
  run: RunNumber,
  group: string | undefined,
  at: number,
): string {
  const turn = parent.turn?.number ?? null;
  const key = group !== undefined ? `group:${group}` : turn === null ? `run:${run}` : `turn:${turn}`;
  const known = parent.batches.get(key);
  if (known === undefined) {
    parent.batches.set(key, { key, turn, open: new Set([run]), ended: [], passed: false });
    const barrier = state.settings?.limits.barrierSeconds ?? 0;
    state.timers.set(`barrier:${parent.number}:${key}`, at + barrier * 1_000);
  } else {
    known.open.add(run);
    known.turn = turn;
  }
  return key;
}

/** Announced runs leave their batches. A batch without runs is over. */
export function batchLeave(state: TreeState, agent: AgentState, announced: ReadonlySet<RunNumber>): void {
  for (const batch of agent.batches.values()) {
    batch.ended = batch.ended.filter((run) => !announced.has(run));
    if (batch.open.size > 0 || batch.ended.length > 0) continue;
    agent.batches.delete(batch.key);
    state.timers.delete(`barrier:${agent.number}:${batch.key}`);
  }
}

export const announcementFacts = {
  "announcement-queued"(state, fact) {
    const agent = state.agents.get(fact.agent);
    if (agent === undefined) return;
    agent.pending ??= { key: fact.key, runs: [], stragglers: [] };
    const { pending } = agent;
    const announced = new Set(fact.runs);
    pending.runs = [...pending.runs, ...fact.runs].toSorted((a, b) => a - b);
    pending.stragglers = [...pending.stragglers.filter((run) => !announced.has(run)), ...(fact.stragglers ?? [])];
    batchLeave(state, agent, announced);
  },

  "announcement-blocked"(state, { agent, key }) {
    state.agents.get(agent)?.blocked.push(key);
  },

  "barrier-passed"(state, { agent, batch: key }) {
    const batch = state.agents.get(agent)?.batches.get(key);
    if (batch !== undefined) batch.passed = true;
  },
} satisfies Partial<StateHandlers>;
