/** `send_user_message`: a background agent's message for the user. The nearest foreground agent above it gets it. */

import { type Answer, type Call, toolAnswer, toolError } from "../agent/answer.ts";
import { sendText } from "../inbox/inbox.ts";
import type { AgentState } from "../state.ts";
import type { Deciding } from "../step.ts";

export function sendUserMessage(d: Deciding, agent: AgentState, call: Call): Answer {
  const target = agentWithUser(d, d.state.agents.get(agent.parent ?? -1));
  if (target === null)
    return toolError("send_user_message: no agent above you speaks to a user; put it into your report instead");
  const run = d.state.runs.get(agent.number);
  const limit = d.settings.limits.userMessagesPerRun;
  if (run !== undefined && run.userMessages >= limit) {
    return toolError(`send_user_message: the limit of ${limit} messages is reached; put the rest into your report`);
  }
  sendText(d, agent, target, call, "user-facing", awaitedBy(d, agent, target) ? true : undefined);
  return toolAnswer({ status: "sent", agent_id: target.id });
}

/** True if a tool call of the target waits for the agent's run, directly or through awaited runs between them. */
function awaitedBy(d: Deciding, agent: AgentState, target: AgentState): boolean {
  for (let at: AgentState | undefined = agent; at !== target; at = d.state.agents.get(at.parent ?? -1)) {
    if (at === undefined || d.state.runs.get(at.number)?.mode !== "awaited") return false;
  }
  return true;
}

/** The nearest agent that speaks to a user: this one, or one above it. */
export function agentWithUser(d: Deciding, agent: AgentState | undefined): AgentState | null {
  for (let at = agent; at !== undefined; at = d.state.agents.get(at.parent ?? -1))
    if (at.kind === "foreground") return at;
  return null;
}
