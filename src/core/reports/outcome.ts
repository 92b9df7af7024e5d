/** How a child's run ends. What happened decides, never the words of the child. */

import type { AgentState, Run } from "../state.ts";
import type { RunEnd } from "../step.ts";
import { NO_RESPONSE } from "./findings.ts";

/** How the child has reported, or null. `tagged`: its newest reply held a `<response>`. */
export function reportedBy(agent: AgentState, run: Run, tagged: boolean): "tool" | "tag" | null {
  if (agent.definition.reporting === "tag") return tagged ? "tag" : null;
  return run.reports > 0 ? "tool" : null;
}

/** True if the child has not reported and was not nudged. */
export function reportWanted(agent: AgentState, run: Run, tagged: boolean): boolean {
  return !run.nudged && reportedBy(agent, run, tagged) === null;
}

/** The end of a run whose last turn ended by itself. */
export function reportOutcome(agent: AgentState, run: Run): RunEnd {
  if (reportedBy(agent, run, agent.tagged) !== null) return { status: "ok" };
  if (run.invalid) return { status: "error", reason: "invalid-output" };
  if (run.typed) {
    return { status: "error", reason: "invalid-output", error: "the child gave no `data` that fits the output schema" };
  }
  if (agent.definition.reporting === "tool") return { status: "ok", reason: "no-report" };
  return { status: "error", reason: "no-report", error: NO_RESPONSE };
}
