/** In few words, what an agent is doing or how it ended. Text of models and tools is in it unchanged. */

import { codePointsPrefix } from "../core/text/index.ts";
import { CHILD_QUESTION } from "../core/text/prompts/question-text.ts";
import { countLabel, elapsedLabel } from "./amounts.ts";
import type { AgentModel, TreeModel } from "./tree-model.ts";

export type Mood = "active" | "queued" | "asking" | "good" | "bad" | "stopped";

/** The longest error, in code points, that an activity repeats. */
const LONGEST_ERROR = 300;

/** What a picture shows by a mark and a colour. */
export function agentMood(agent: AgentModel, model: TreeModel): Mood {
  const { run } = agent;
  const asks = asksFor(agent, model) !== null;
  if (run === null) {
    if (asks) return "asking";
    if (agent.turn || agent.turns === 0 || waitsFor(agent, model) > 0) return "active";
    return agent.outcome === "failed" ? "bad" : agent.outcome === "cancelled" ? "stopped" : "good";
  }
  if (run.state === "queued") return "queued";
  if (run.state === "needs_input" || asks) return "asking";
  if (run.state !== "ended") return "active";
  if (run.status === "ok") return "good";
  return run.status === "cancelled" || run.status === "interrupted" ? "stopped" : "bad";
}

export function agentActivity(agent: AgentModel, model: TreeModel, now: number): string {
  const { run } = agent;
  if (run?.state === "ended") return endedLabel(agent);
  if (run?.state === "queued") return "queued";
  const asks = asksFor(agent, model);
  if (asks !== null) return asks;
  if (run?.state === "needs_input") return "needs input";
  if (agent.retry !== null) {
    const wait = elapsedLabel(Math.max(0, agent.retry.at - now));
    const words = agent.failure === null ? "" : `: ${errorStart(agent.failure)}`;
    return `model failed, attempt ${agent.retry.attempt} in ${wait}${words}`;
  }
  const [tool] = agent.tools.values();
  if (tool !== undefined) {
    const more = agent.tools.size > 1 ? `+${agent.tools.size - 1} ` : "";
    return `${tool.name} ${more}${tool.about}`.trim();
  }
  if (agent.thinking) return "thinking";
  if (agent.doing !== null) return agent.doing;
  const waiting = waitsFor(agent, model);
  if (waiting > 0) return `waits for ${countLabel(waiting, "run")}`;
  if (run !== null || agent.turn) return "working";
  if (agent.outcome === null) return "starting";
  if (agent.outcome === "done") return "done";
  return agent.outcome === "cancelled"
    ? "cancelled"
    : `failed: ${errorStart(agent.error ?? agent.reason ?? "unknown reason")}`;
}

/** The call of the agent that waits for the user, if there is one. */
function asksFor(agent: AgentModel, model: TreeModel): string | null {
  for (const { agent: asker, tool, about } of model.questions.values())
    if (asker === agent.number) return tool === CHILD_QUESTION ? `asks: ${about}` : `may it? ${tool} ${about}`.trim();
  return null;
}

function waitsFor(agent: AgentModel, model: TreeModel): number {
  let count = 0;
  for (const other of model.agents.values()) {
    if (other.parent === agent.number && other.run !== null && other.run.state !== "ended") count += 1;
  }
  return count;
}

function endedLabel(agent: AgentModel): string {
  const { status, reason, error } = agent.run ?? { status: null, reason: null, error: null };
  switch (status) {
    case null:
    case "ok":
      return reason === "no-report" ? "done, without a report" : "done";
    case "error":
      return error === null && reason === null ? "failed" : `failed: ${errorStart(error ?? reason ?? "")}`;
    case "timeout":
      return "timed out";
    case "cancelled":
      return "cancelled";
    case "interrupted":
      return "interrupted";
  }
}

function errorStart(error: string): string {
  const start = codePointsPrefix(error, LONGEST_ERROR);
  return start.length < error.length ? `${start}…` : start;
}
