/** Messages that come from outside the tree. */

import type { Deciding } from "../deciding.ts";
import type { Input } from "../event.ts";

export function messagePosted(d: Deciding, input: Extract<Input, { type: "message-posted" }>): string | null {
  const agent = d.state.agents.get(input.to);
  if (agent === undefined) return "the agent is closed";
  if (agent.inbox.length >= d.settings.limits.inboxMessages) return "the inbox is full";
  d.accept();
  d.later({ do: "settle", agent: input.to });
  return null;
}
