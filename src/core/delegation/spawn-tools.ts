/** `subagent`, `start_background_agent` and `use_skill`: the tools that start runs, through runs/spawn.ts. */

import { type Answer, type Call, toolAnswer, toolError } from "../agent/answer.ts";
import { definitionNames, spawn, taskOf } from "../runs/spawn.ts";
import type { AgentState } from "../state.ts";
import type { Deciding, Refusal } from "../step.ts";

/** The task of a skill's child if the caller gives none. */
export const SKILL_TASK = "Do what the skill describes.";

/** The answer comes with the end of the run. */
export function subagent(d: Deciding, agent: AgentState, call: Call): Answer | "open" {
  const run = spawn(d, agent, { mode: "awaited", call: call.id, args: call.args, facts: call.facts });
  return typeof run === "number" ? "open" : refusedDelegation(d, "subagent", call, run);
}

/** An isolated skill runs as an awaited child. Any other skill is read into the context. */
export function useSkill(d: Deciding, agent: AgentState, { id: call, args, facts }: Call): Answer | "open" {
  const name = typeof args["name"] === "string" ? args["name"] : "";
  const kind = d.state.catalog.get(name)?.skill;
  if (kind === undefined) {
    const known = definitionNames(d, ({ skill }) => skill !== undefined);
    return toolError(`use_skill: there is no skill "${name}" (known: ${known})`);
  }
  if (kind === "inline") {
    d.emit({ type: "tool-answered", agent: agent.number, call, skill: name, size: 0 });
    return "open";
  }
  const run = spawn(d, agent, { mode: "awaited", skill: name, call, args: { task: SKILL_TASK, ...args }, facts });
  return typeof run === "number" ? "open" : refusedDelegation(d, "subagent", { id: call, args }, run);
}

export function startBackgroundAgent(d: Deciding, agent: AgentState, call: Call): Answer {
  const run = spawn(d, agent, { mode: "background", call: call.id, args: call.args, facts: call.facts });
  if (typeof run !== "number") return refusedDelegation(d, "start_background_agent", call, run);
  const made = d.state.runs.get(run);
  return toolAnswer({ status: "accepted", run_id: made?.id ?? "", agent_id: made?.agent ?? "" });
}

/** A delegation for which no run was made, in the shape of the tool that asked for it (rules D1, F2). */
export function refusedDelegation(
  d: Deciding,
  tool: "subagent" | "start_background_agent",
  { id, args }: Pick<Call, "id" | "args">,
  { reason, error }: Refusal,
): Answer {
  d.refused({ id, task: taskOf(args), reason, error });
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
