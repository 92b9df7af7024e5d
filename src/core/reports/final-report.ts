/**
 * Final reports (rule B12) and the closing call after an ordinary one (rule B7): how a run that has reported comes to its end.
 *
 * Invariants:
 *  1. A final report ends its run in the step that answers the last other call of its reply; no model is called for it.
 *  2. What the child has not seen yet (children, messages, a failed call) makes a final report an ordinary one, and the answer says so.
 *  3. A report that was delivered is not undone by a failure of the call that only closes the turn.
 */

import { childrenOpen, childrenUnannounced, inboxWaits } from "../agent/open-work.ts";
import { jsonObjectIs } from "../values/json.ts";
import { replyPartsOf, type ToolCallPart } from "../values/message.ts";
import type { AgentState, OpenCall, Turn } from "../state.ts";
import type { Deciding } from "../step.ts";

/** Final reports of the newest reply, whose answers wait for the other calls. */
export function finalCalls(turn: Turn): readonly OpenCall[] {
  const calls: OpenCall[] = [];
  for (const call of turn.calls.values()) if (call.final) calls.push(call);
  return calls;
}

/** True if a call of this step's reply starts a run, whose result the child has not seen. */
export function replyDelegates(d: Deciding): boolean {
  return replyPartsOf(d.texts[0]).some((part) => part.type === "tool-call" && delegates(d, part));
}

function delegates(d: Deciding, { name, input }: ToolCallPart): boolean {
  if (name === "subagent" || name === "start_background_agent") return true;
  if (name !== "use_skill" || !jsonObjectIs(input) || typeof input["name"] !== "string") return false;
  return d.state.catalog.get(input["name"])?.skill === "isolated";
}

export const FINAL_AFTER_DELEGATION =
  "not final, because the same reply starts a child whose result you have not seen: end your turn; " +
  "your run ends when your children have ended and you have ended your turn";

/** Why the final report of this turn counts as an ordinary one, as its answer says it; null if it ends the run. */
export function whyNotFinal(agent: AgentState, turn: Turn): string | null {
  if (childrenOpen(agent) || childrenUnannounced(agent)) {
    return (
      "not final, because children of yours have not ended or were not announced to you yet: end your turn; " +
      "your run ends when all of them were announced and you have ended your turn"
    );
  }
  if (turn.replyFailed) {
    return (
      "not final, because another call of the same reply failed: look at its result, then end your turn; " +
      "your run ends when you have ended your turn"
    );
  }
  if (inboxWaits(agent)) {
    return (
      "not final, because a message waits for you: answer it, then end your turn; " +
      "your run ends when you have ended your turn"
    );
  }
  return null;
}

/** True while the model call under way, or the next one, only closes a run that has reported: the first call after the reply that did. */
export function onlyClosingCallLeft(agent: AgentState): boolean {
  const { turn } = agent;
  return turn !== null && turn.replyReported && turn.calls.size === 0 && !childrenOpen(agent);
}
