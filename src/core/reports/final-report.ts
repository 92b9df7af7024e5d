/**
 * How a run that has reported ends: by a final report (rule B12), or by the closing call after an ordinary one (rule
 * B7).
 *
 * Invariants:
 *  1. A final report ends its run in the step that answers the last other call of its reply. No model is called for
 *     that.
 *  2. If the child has not seen something yet (children, messages, a failed call), its final report is an ordinary one,
 *     and the answer says so.
 *  3. A failure of the call that only closes the turn does not undo a report.
 */

import { childrenOpen, childrenUnannounced, inboxWaits } from "../agent/open-work.ts";
import { jsonObjectIs } from "../values/json.ts";
import { replyPartsOf, type ToolCallPart } from "../values/message.ts";
import type { AgentState, OpenCall, Turn } from "../state.ts";
import type { Deciding } from "../step.ts";

/** Final reports of the newest reply, whose answers wait for the other calls. */
export function finalCalls(turn: Turn): readonly OpenCall[] {
  return [...turn.calls.values()].filter((call) => call.final);
}

/** True if a call of this step's reply starts a run. The child has not seen its result. */
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

/** Why the final report of this turn is an ordinary one, in the words of its answer; null if it ends the run. */
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

/**
 * True if the current or next model call only closes a run that has reported: the first call after the report's reply.
 */
export function onlyClosingCallLeft(agent: AgentState): boolean {
  const { turn } = agent;
  return turn !== null && turn.replyReported && turn.calls.size === 0 && !childrenOpen(agent);
}
