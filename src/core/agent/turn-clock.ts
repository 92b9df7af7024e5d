/**
 * The clock of a root agent's turn. A child's is the clock of its run.
 *
 * Invariants:
 *  1. It runs while a model call is open, including its retries, or one of the agent's own tools works. While the turn waits only for children,
 *     people or budget, it stands still.
 *  2. Its times come from the facts, so that a restart and a replay see the same ones.
 */

import type { AgentState, TreeState } from "../state.ts";
import { clockStart, clockStop } from "../values/timers.ts";

/** The limit in seconds; null for none. Trees of earlier revisions were opened without it. */
export function turnSeconds(state: TreeState): number | null {
  const seconds: number | null | undefined = state.settings?.limits.turnSeconds;
  return seconds ?? null;
}

/** Starts or stops the clock, if what the turn does has changed. */
export function turnClockSet(state: TreeState, agent: AgentState, at: number): void {
  const { turn } = agent;
  if (turn === null || agent.parent !== null) return;
  const works = turn.model !== null || turn.working > 0;
  if (!works) turnClockStop(state, agent, at);
  else if (turn.clock.since === null) turnClockStart(state, agent, at);
}

function turnClockStart(state: TreeState, { turn, number }: AgentState, at: number): void {
  const seconds = turnSeconds(state);
  if (turn !== null && seconds !== null) clockStart(state.timers, `turn:${number}`, turn.clock, at, seconds * 1_000);
}

function turnClockStop(state: TreeState, { turn, number }: AgentState, at: number): void {
  if (turn !== null && turn.clock.since !== null) clockStop(state.timers, `turn:${number}`, turn.clock, at);
}

/** The time between the last step of the origin and the fork does not count. */
export function turnClockFork(state: TreeState, agent: AgentState, at: number): void {
  if (agent.turn === null || agent.turn.clock.since === null) return;
  turnClockStop(state, agent, state.at);
  turnClockStart(state, agent, at);
}
