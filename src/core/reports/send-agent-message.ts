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
import { dataGiven } from "../runs/report-data.ts";
import { FINAL_AFTER_DELEGATION, replyDelegates } from "./final-report.ts";

/** "open": a final report, answered when the other calls of its reply are. */
export function sendAgentMessage(d: Deciding, agent: AgentState, call: Call): Answer | "open" {
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
    const advice = agent.parent === null ? ROOT_ADVICE : "leave `agentId` out to write to your parent";
    return toolError(`send_agent_message: no such agent in your tree; ${advice}`);
  }
  const toParent = run !== undefined && (kept || target?.number === run.parent);
  const report = toParent && agent.definition.reporting === "tool";
  const final = call.args["final"] === true;
  if (final && !report) return toolError(`send_agent_message: ${finalMisused(agent)}`);
  const problem = reportProblem(d, call.args, run?.typed === true) ?? call.facts.problem;
  if (problem !== undefined) {
    if (report) reportRefused(d, run, problem);
    return toolError(`send_agent_message: ${problem}`);
  }
  const posted = !report || postedAtOnce(run);
  if (target !== undefined && posted && target.inbox.length >= d.settings.limits.inboxMessages) {
    return toolError("send_agent_message: that agent's inbox is full; wait, or put it into your report");
  }
  const waits = final && !replyDelegates(d);
  if (report) d.emit({ type: "run-reported", run: run.number, call: call.id, final: waits ? true : undefined });
  if (target !== undefined && posted) {
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
  if (waits) return "open";
  if (report) return reportAnswer(d, agent, final ? FINAL_AFTER_DELEGATION : "ordinary");
  return toolAnswer({ status: "sent", agent_id: target?.id ?? d.state.id, report });
}

const ROOT_ADVICE = "you are its root: give the agent_id of a child that is running, or just answer the user";

function finalMisused(agent: AgentState): string {
  return agent.definition.reporting === "tag"
    ? "`final` is not for you, because you report in <response> tags; leave it out"
    : "`final` is only for a report to your parent; leave it out, or leave `agentId` out";
}

/** The answer to a report: what it counts as, or why a final one is not final. */
export function reportAnswer(d: Deciding, agent: AgentState, as: "ordinary" | "final" | (string & {})): Answer {
  const id = d.state.agents.get(agent.parent ?? -1)?.id ?? d.state.id;
  const sent = { status: "sent", agent_id: id, report: true };
  if (as === "ordinary") return toolAnswer(sent);
  return toolAnswer(as === "final" ? { ...sent, final: true } : { ...sent, final: false, note: as });
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

/** An artifact that the settings do not allow, or that is not what its kind says, named with its place. */
function reportProblem(d: Deciding, args: Call["args"], typed: boolean): string | undefined {
  const { artifacts, data_json: dataText } = args;
  const kinds: readonly string[] = d.settings.artifactKinds;
  for (const [index, artifact] of Array.isArray(artifacts) ? (artifacts as readonly Json[]).entries() : []) {
    const { kind, value } = jsonObjectIs(artifact) ? artifact : {};
    if (typeof kind !== "string" || !kinds.includes(kind)) {
      return `\`artifacts[${index}].kind\` must be one of ${kinds.join(", ")}`;
    }
    if (kind === "json" && !jsonTextIs(value))
      return `\`artifacts[${index}].value\` must be JSON text, as its kind says`;
  }
  if (dataText !== undefined && !jsonTextIs(dataText)) return "`data_json` must be JSON text";
  // Without a schema `data` counts as an artifact of kind `json`.
  if (dataGiven(args) !== undefined && !typed && !kinds.includes("json"))
    return "`data` is only for runs with an output schema";
  return undefined;
}

function jsonTextIs(value: Json | undefined): boolean {
  if (typeof value !== "string") return false;
  try {
    JSON.parse(value);
    return true;
  } catch {
    return false;
  }
}

function postedAtOnce(run: Run): boolean {
  return run.mode === "background" && run.announceEach;
}
