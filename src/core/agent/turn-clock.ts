/**
 * The clock of a root agent's turn. For a child the clock of its run counts.
 *
 * Invariants:
 *  1. It runs while a model call is open, including its retries, or one of the agent's own tools works. It stands still
 *     while the turn waits only for children, people or budget.
 *  2. Its times come from the facts, so that a restart and a replay see the same ones.
 */

import type { AgentState, TreeState } from "../state.ts";
import type { AgentNumber } from "../values/ids.ts";
import { clockStart, clockStop } from "../values/timers.ts";

/** The limit in seconds, or null. Trees of earlier revisions were opened without it. */
export function turnSeconds(state: TreeState): number | null {
  const seconds: number | null | undefined = state.settings?.limits.turnSeconds;
  return seconds ?? null;
}

/** Starts the clock if the turn works now, and stops it if not. */
export function turnClockSet(state: TreeState, { turn, parent, number }: AgentState, at: number): void {
  const seconds = turnSeconds(state);
  if (turn === null || parent !== null || seconds === null) return;
  const works = turn.model !== null || turn.working > 0;
  if (!works) clockStop(state.timers, timerOf(number), turn.clock, at);
  else if (turn.clock.since === null) clockStart(state.timers, timerOf(number), turn.clock, at, seconds * 1_000);
}

/** The time between the last step of the origin and the fork does not count. */
export function turnClockFork(state: TreeState, agent: AgentState, at: number): void {
  if (agent.turn === null || agent.turn.clock.since === null) return;
  clockStop(state.timers, timerOf(agent.number), agent.turn.clock, state.at);
  turnClockSet(state, agent, at);
}

function timerOf(number: AgentNumber): string {
  return `turn:${number}`;
}
