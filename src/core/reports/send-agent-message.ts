/**
 * `send_agent_message`: a child's way to report, and any agent's way to write to another of its tree.
 *
 * Invariant: a report goes by one road. Of an awaited run it is the call's result; of a background run it is announced, or with
 * `announce: "each"` posted at once.
 */

import { type Answer, type Call, toolAnswer, toolError } from "../agent/answer.ts";
import type { Deciding } from "../deciding.ts";
import { type Json, jsonObjectIs } from "../json.ts";
import type { AgentState, Run } from "../state.ts";

export function sendAgentMessage(d: Deciding, agent: AgentState, call: Call): Answer {
  const { agentId, text } = call.args;
  const size = typeof text === "string" ? text.length : 0;
  const run = d.state.runs.get(agent.number);
  if (agentId === undefined && agent.parent === null) {
    return toolError("send_agent_message: you have no parent; give `agentId`, or just answer the user");
  }
  const number = typeof agentId === "string" ? d.state.numbers.get(agentId) : (agent.parent ?? undefined);
  const target = number === undefined ? undefined : d.state.agents.get(number);
  const kept = run !== undefined && parentClosed(d, agent, agentId);
  if (!kept && (target === undefined || (typeof agentId === "string" && target.id !== agentId))) {
    return toolError("send_agent_message: no such agent in your tree; leave `agentId` out to write to your parent");
  }
  const toParent = run !== undefined && (kept || target?.number === run.parent);
  const report = toParent && agent.definition.reporting === "tool";
  const problem = artifactProblem(d, call.args["artifacts"]) ?? call.facts.problem;
  if (problem !== undefined) {
    if (report) reportRefused(d, run, problem);
    return toolError(`send_agent_message: ${problem}`);
  }
  if (target === undefined) {
    if (report) d.emit({ type: "run-reported", run: run.number, call: call.id });
    return toolAnswer({ status: "sent", agent_id: d.state.id, report });
  }
  const posted = !report || postedAtOnce(run);
  if (posted && target.inbox.length >= d.settings.limits.inboxMessages) {
    return toolError("send_agent_message: that agent's inbox is full; wait, or put it into your report");
  }
  if (report) d.emit({ type: "run-reported", run: run.number, call: call.id });
  if (posted) {
    d.emit({
      type: "message-sent",
      n: d.number(),
      from: agent.number,
      to: target.number,
      call: call.id,
      kind: "system",
      size,
    });
    if (target.number !== agent.number) d.later({ do: "settle", agent: target.number });
  }
  return toolAnswer({ status: "sent", agent_id: target.id, report });
}

/** A report whose artifacts or data are not what was asked for: if the child does not mend it, it is why its run fails. */
export function reportRefused(d: Deciding, run: Run, problem: string): void {
  d.emit({ type: "run-report-refused", run: run.number, problem: d.text(problem) });
}

/** True if the report is for a root that was closed meanwhile: it is kept with the run (rule B11). */
function parentClosed(d: Deciding, agent: AgentState, agentId: Json | undefined): boolean {
  if (agent.parent !== 0 || d.state.agents.has(0) || agent.definition.reporting !== "tool") return false;
  return agentId === undefined || agentId === d.state.id;
}

/** An artifact of a kind that the settings do not allow, named with its place. */
function artifactProblem(d: Deciding, artifacts: Json | undefined): string | null {
  if (!Array.isArray(artifacts)) return null;
  const kinds: readonly string[] = d.settings.artifactKinds;
  for (const [index, artifact] of (artifacts as readonly Json[]).entries()) {
    const kind = jsonObjectIs(artifact) ? artifact["kind"] : undefined;
    if (typeof kind !== "string" || !kinds.includes(kind)) {
      return `\`artifacts[${index}].kind\` must be one of ${kinds.join(", ")}`;
    }
  }
  return null;
}

function postedAtOnce(run: Run): boolean {
  return run.mode === "background" && run.announceEach;
}
