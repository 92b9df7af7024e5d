/** `cancel_run` and `steer_run`, for the runs below an agent. The store answers for runs that have left the state. */

import { type Answer, type Call, toolAnswer, toolError } from "../agent/answer.ts";
import type { AgentState, Run } from "../state.ts";
import type { Deciding } from "../step.ts";
import { runnerTakes } from "../outside/session.ts";
import { runsBelow } from "../runs/cancel.ts";
import { sendText } from "../inbox/inbox.ts";

/** The run a call names, if it is in the state and below the agent. */
function runNamed(d: Deciding, agent: AgentState, call: Call): Run | null {
  const id = call.args["run_id"];
  const number = typeof id === "string" ? d.state.numbers.get(id) : undefined;
  const run = number === undefined ? undefined : d.state.runs.get(number);
  if (run === undefined || run.id !== id) return null;
  for (let above: number | null = run.parent; above !== null; above = d.state.agents.get(above)?.parent ?? null) {
    if (above === agent.number) return run;
  }
  return null;
}

export function cancelRun(d: Deciding, agent: AgentState, call: Call): Answer | "read" {
  const run = runNamed(d, agent, call);
  if (run === null) return "read";
  if (run.outcome !== null) return toolAnswer({ status: "already_ended", cancelled: 0 });
  const cancelled = runsBelow(d, run.number);
  d.later({ do: "end-run", run: run.number, end: { status: "cancelled" } });
  return toolAnswer({ status: "cancelled", cancelled });
}

export function steerRun(d: Deciding, agent: AgentState, call: Call): Answer | "read" {
  const run = runNamed(d, agent, call);
  if (run === null) return "read";
  const child = d.state.agents.get(run.number);
  if (child === undefined) return toolError("steer_run: that run has ended; start another one");
  if (child.definition.runner !== undefined && !runnerTakes(child, "steer"))
    return toolError("steer_run: that run is executed outside and takes no messages; wait for it, or cancel it");
  sendText(d, agent, child, call, "steer");
  return toolAnswer({ status: "sent" });
}
