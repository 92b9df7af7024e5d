/** Batches: background runs of one parent that are announced together, at the latest when their barrier passes. */

import type { Deciding } from "../deciding.ts";
import type { AgentNumber, RunNumber } from "../ids.ts";
import type { AgentState } from "../state.ts";

/** Announces what has ended of a batch, once all of it has, or once its barrier has passed. */
export function completeBatch(d: Deciding, agent: AgentState, key: string): void {
  const batch = agent.batches.get(key);
  if (batch === undefined || batch.ended.length === 0) return;
  if (batch.turn !== null && batch.turn === agent.turn?.number) return;
  if (batch.open.size > 0 && !batch.passed) return;
  announce(d, agent, batch.ended, []);
}

/** Puts ended runs into the announcement that waits for the agent, or into a new one. */
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

/** Finished members go out now; each of the others is announced by itself when it ends. */
export function barrierPassed(d: Deciding, number: AgentNumber, key: string): void {
  const agent = d.state.agents.get(number);
  const batch = agent?.batches.get(key);
  if (agent === undefined || batch === undefined || batch.open.size === 0) return;
  d.emit({ type: "barrier-passed", agent: number, batch: key });
  if (batch.ended.length === 0) return;
  announce(d, agent, batch.ended, [...batch.open]);
  d.later({ do: "settle", agent: number });
}
