/** Open work: what an agent must still see before its run can end. */

import type { AgentState } from "../state.ts";

/** True while the agent has children that have not ended. */
export function childrenOpen(agent: AgentState): boolean {
  return agent.live.size > 0 || agent.queue.length > 0;
}

/** True while ended children wait to be announced to the agent. */
export function childrenUnannounced(agent: AgentState): boolean {
  return agent.pending !== null || [...agent.batches.values()].some((batch) => batch.ended.length > 0);
}

/** True while a message waits in the inbox that causes inference. */
export function inboxWaits(agent: AgentState): boolean {
  return agent.inbox.some((message) => !message.silent);
}

export function agentHasOpenWork(agent: AgentState): boolean {
  return childrenOpen(agent) || childrenUnannounced(agent) || inboxWaits(agent);
}
