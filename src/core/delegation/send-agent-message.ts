/**
 * `send_agent_message`: a child's way to report, and any agent's way to write to another of its tree.
 *
 * Invariant: a report reaches the parent in one way (rule B8). The report of an awaited run is the call's result. The
 * report of a background run is announced, or posted at once with `announce: "each"`.
 */

import { type Answer, type Call, toolAnswer, toolError } from "../agent/answer.ts";
import { FINAL_AFTER_DELEGATION, replyDelegates } from "../reports/final-report.ts";
import { sendText } from "../inbox/inbox.ts";
import type { AgentState, Run } from "../state.ts";
import type { Deciding } from "../step.ts";
import { type Json, jsonObjectIs, jsonParsed } from "../values/json.ts";
import { dataGiven } from "./typed-data.ts";

const refused = (problem: string): Answer => toolError(`send_agent_message: ${problem}`);

/** "open" for a final report: it is answered after the other calls of its reply. */
export function sendAgentMessage(d: Deciding, agent: AgentState, call: Call): Answer | "open" {
  const { agentId, final } = call.args;
  const run = d.state.runs.get(agent.number);
  if (agentId === undefined && agent.parent === null)
    return refused("you have no parent; give `agentId`, or just answer the user");
  const number = typeof agentId === "string" ? d.state.numbers.get(agentId) : (agent.parent ?? undefined);
  const target = number === undefined ? undefined : d.state.agents.get(number);
  const closed = run !== undefined && parentClosed(d, agent, agentId);
  if (!closed && (target === undefined || (typeof agentId === "string" && target.id !== agentId))) {
    const advice = agent.parent === null ? ROOT_ADVICE : "leave `agentId` out to write to your parent";
    return refused(`no such agent in your tree; ${advice}`);
  }
  const report =
    run !== undefined && (closed || target?.number === run.parent) && agent.definition.reporting === "tool";
  if (final === true && !report) return refused(finalMisused(agent));
  if (target?.kind === "host" && !report)
    return refused("that agent is a program, which reads your result and takes no messages; put it into your result");
  const problem = reportProblem(d, call.args, run?.typed === true) ?? call.facts.problem;
  if (problem !== undefined) {
    if (report) reportRefused(d, run, problem);
    return refused(problem);
  }
  const posted = !report || (run.mode === "background" && run.announceEach);
  if (target !== undefined && posted && target.inbox.length >= d.settings.limits.inboxMessages)
    return refused("that agent's inbox is full; wait, or put it into your report");
  const waits = final === true && !replyDelegates(d);
  if (report) d.emit({ type: "run-reported", run: run.number, call: call.id, final: waits ? true : undefined });
  if (target !== undefined && posted) sendText(d, agent, target, call, "system");
  if (waits) return "open";
  if (report) return reportAnswer(d, agent, final === true ? FINAL_AFTER_DELEGATION : "ordinary");
  return toolAnswer({ status: "sent", agent_id: target?.id ?? d.state.id, report });
}

const ROOT_ADVICE = "you are its root: give the agent_id of a child that is running, or just answer the user";

function finalMisused(agent: AgentState): string {
  return agent.definition.reporting === "tag"
    ? "`final` is not for you, because you report in <response> tags; leave it out"
    : "`final` is only for a report to your parent; leave it out, or leave `agentId` out";
}

/** The answer to a report. `as`: what it counts as, or why a final report is not final. */
export function reportAnswer(d: Deciding, agent: AgentState, as: "ordinary" | "final" | (string & {})): Answer {
  const id = d.state.agents.get(agent.parent ?? -1)?.id ?? d.state.id;
  const sent = { status: "sent", agent_id: id, report: true };
  if (as === "ordinary") return toolAnswer(sent);
  return toolAnswer(as === "final" ? { ...sent, final: true } : { ...sent, final: false, note: as });
}

/** The report has wrong artifacts or data. If the child does not correct it, its run fails with this problem. */
export function reportRefused(d: Deciding, run: Run, problem: string): void {
  d.emit({ type: "run-report-refused", run: run.number, problem: d.text(problem) });
}

/** True if the report is for a root that is closed. The report is recorded with the run (rule B11). */
function parentClosed(d: Deciding, agent: AgentState, agentId: Json | undefined): boolean {
  if (agent.parent !== 0 || d.state.agents.has(0) || agent.definition.reporting !== "tool") return false;
  return agentId === undefined || agentId === d.state.id;
}

/** What is wrong with the artifacts or the data, and where. */
export function reportProblem(d: Deciding, args: Call["args"], typed: boolean): string | undefined {
  const { artifacts, data_json: dataText } = args;
  const kinds: readonly string[] = d.settings.artifactKinds;
  for (const [index, artifact] of Array.isArray(artifacts) ? (artifacts as readonly Json[]).entries() : []) {
    const { kind, value } = jsonObjectIs(artifact) ? artifact : {};
    const at = `artifacts[${index}]`;
    if (typeof kind !== "string" || !kinds.includes(kind)) return `\`${at}.kind\` must be one of ${kinds.join(", ")}`;
    if (kind === "json" && !jsonTextIs(value)) return `\`${at}.value\` must be JSON text, as its kind says`;
  }
  if (dataText !== undefined && !jsonTextIs(dataText)) return "`data_json` must be JSON text";
  // Without a schema `data` counts as an artifact of kind `json`.
  const refusedData = dataGiven(args) !== undefined && !typed && !kinds.includes("json");
  return refusedData ? "`data` is only for runs with an output schema" : undefined;
}

function jsonTextIs(value: Json | undefined): boolean {
  return typeof value === "string" && jsonParsed(value) !== undefined;
}
