/** How a child's run ends, from what happened in it: never from what the child says about itself. */

import type { RunEnd } from "../deciding.ts";
import type { ReportKind, RunStatus } from "../journal.ts";
import type { AgentState, Run } from "../state.ts";

/** The response text of a run that had to answer in a tag and did not (rule B4). */
const NO_RESPONSE = "Error: subagent did not produce a response.";

/** The error that stands before the findings of an ended run, or null. */
export function responseError(status: RunStatus | null, reason: string | null): string | null {
  return status === "error" && reason === "no-report" ? NO_RESPONSE : null;
}

/** Where the run's result comes from if it ended now. */
export function reportKindOf(agent: AgentState, run: Run, tagged: boolean): ReportKind {
  if (agent.definition.reporting === "tag") {
    if (tagged) return "tag";
  } else if (run.reports > 0) {
    return "tool";
  }
  return agent.said ? "salvaged" : "missing";
}

/** True if the child is done but for a report that it has not yet been asked for. */
export function reportWanted(agent: AgentState, run: Run, tagged: boolean): boolean {
  const kind = reportKindOf(agent, run, tagged);
  return !run.nudged && kind !== "tool" && kind !== "tag";
}

/** The end of a run whose last turn ended by itself. */
export function reportOutcome(agent: AgentState, run: Run): RunEnd {
  const kind = reportKindOf(agent, run, agent.tagged);
  if (kind === "tool" || kind === "tag") return { status: "ok" };
  if (run.invalid) return { status: "error", reason: "invalid-output" };
  if (run.typed) {
    return { status: "error", reason: "invalid-output", error: "the child gave no `data` that fits the output schema" };
  }
  if (agent.definition.reporting === "tool") return { status: "ok", reason: "no-report" };
  return { status: "error", reason: "no-report", error: NO_RESPONSE };
}
