/**
 * What an open run is doing: it works, it waits for its children, or nothing below it can go on before a user answers.
 *
 * Invariant: a run is `needs_input` while every call of its turn waits for an answer or for a run that is `needs_input` itself, while its next
 * model call waits for an answer, and, between turns, while all its children are. Its clock stands still then, and so do those above it that wait for nothing else.
 */

import type { Deciding } from "../deciding.ts";
import type { AgentNumber } from "../ids.ts";
import type { AgentState, Run } from "../state.ts";

type OpenState = "running" | "waiting" | "needs_input";

/** Says anew what the agent's run is doing, if that has changed. */
export function restate(d: Deciding, number: AgentNumber): void {
  const agent = d.state.agents.get(number);
  // An agent that is nobody's child has no run; it may have a thousand calls to look through.
  if (agent !== undefined && d.state.runs.has(number)) runIs(d, number, standing(d, agent));
}

/** The run does this from here on. */
export function runIs(d: Deciding, number: AgentNumber, state: OpenState): void {
  const run = d.state.runs.get(number);
  if (run === undefined || run.outcome !== null || run.state === "queued" || run.state === state) return;
  d.emit({ type: "run-state-changed", run: number, state });
  restateIdle(d, run.parent);
}

/** Something below the agent has changed: if its run stands idle, it may stand for another reason now. */
export function restateIdle(d: Deciding, number: AgentNumber): void {
  if (d.state.runs.get(number)?.state !== "running") restate(d, number);
}

function standing(d: Deciding, agent: AgentState): OpenState {
  if (agent.turn === null) {
    const asking =
      agent.queue.length === 0 && agent.live.size > 0 && [...agent.live].every((run) => needsInput(d, run));
    return asking ? "needs_input" : "waiting";
  }
  if (d.state.requestCalls.question !== null && d.state.budgetQueue.includes(agent.number)) return "needs_input";
  // A final report waits for the other calls.
  const calls = [...agent.turn.calls.values()].filter((call) => !call.final);
  const waits = calls.length > 0 && calls.every((call) => call.run !== null || call.question !== null);
  if (!waits) return "running";
  return calls.every((call) => call.question !== null || needsInput(d, call.run)) ? "needs_input" : "waiting";
}

function needsInput(d: Deciding, number: Run["number"] | null): boolean {
  return number !== null && d.state.runs.get(number)?.state === "needs_input";
}
