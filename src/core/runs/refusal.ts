/** A delegation for which no run was made, in the shape of the tool that asked for it (rules D1, F2). */

import { type Answer, toolAnswer } from "../agent/answer.ts";
import type { Refusal } from "../deciding.ts";

export function refusedDelegation(tool: "subagent" | "start_background_agent", { reason, error }: Refusal): Answer {
  if (tool === "start_background_agent") return toolAnswer({ status: "refused", reason, error });
  return toolAnswer({
    success: false,
    summary: "",
    artifacts: [],
    error,
    reason,
    timed_out: false,
    duration_ms: 0,
    run_id: null,
    report: "missing",
    nudged: false,
  });
}
