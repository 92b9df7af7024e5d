/**
 * The state of an open run: it runs, it waits for its children, or it needs the input of a user to continue.
 *
 * Invariant: the run of an outside child is `needs_input` while a question of it is open. Any other run is while every
 * call of its turn waits for an answer or for a run that is `needs_input`, while its next model call waits for an
 * answer, and, between turns, while all its children are `needs_input`. Its clock stands still then.
 */

import type { AgentState } from "../state.ts";
import type { Deciding } from "../step.ts";
import type { AgentNumber, RunNumber } from "../values/ids.ts";

type OpenState = "running" | "waiting" | "needs_input";

/** Records the state of the agent's run, if it has changed. */
export function refreshRunState(d: Deciding, number: AgentNumber): void {
  const agent = d.state.agents.get(number);
  if (agent !== undefined && d.state.runs.has(number)) setRunState(d, number, currentState(d, agent));
}

export function setRunState(d: Deciding, number: AgentNumber, state: OpenState): void {
  const run = d.state.runs.get(number);
  if (run === undefined || run.outcome !== null || run.state === "queued" || run.state === state) return;
  d.emit({ type: "run-state-changed", run: number, state });
  refreshIfIdle(d, run.parent);
}

/** A child of the agent has changed. If the agent's run waits, it may wait for another reason now. */
export function refreshIfIdle(d: Deciding, number: AgentNumber): void {
  if (d.state.runs.get(number)?.state !== "running") refreshRunState(d, number);
}

function currentState(d: Deciding, { turn, live, queue, number, definition }: AgentState): OpenState {
  if (definition.runner !== undefined)
    return [...d.state.questions.values()].some(({ agent }) => agent === number) ? "needs_input" : "running";
  if (turn === null) {
    const asking = queue.length === 0 && live.size > 0 && [...live].every((run) => needsInput(d, run));
    return asking ? "needs_input" : "waiting";
  }
  if (d.state.requestCalls.question !== null && d.state.budgetQueue.includes(number)) return "needs_input";
  // Final reports only wait for the other calls.
  const calls = [...turn.calls.values()].filter((call) => !call.final);
  const waits = calls.length > 0 && calls.every((call) => call.run !== null || call.question !== null);
  if (!waits) return "running";
  return calls.every((call) => call.question !== null || needsInput(d, call.run)) ? "needs_input" : "waiting";
}

function needsInput(d: Deciding, number: RunNumber | null): boolean {
  return number !== null && d.state.runs.get(number)?.state === "needs_input";
}
