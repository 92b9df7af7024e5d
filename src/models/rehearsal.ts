/**
 * Owns the offline model `offline/rehearsal`: it runs the whole machine without a key. It divides tasks, uses tools, reports and
 * answers by keywords, without understanding a word, and says so.
 *
 * Invariants:
 *  1. A reply follows from the request alone: same request, same bytes. Nothing is kept between calls.
 *  2. It never fails but when it is aborted, and costs nothing.
 */

import type { Model, ModelRequest } from "../contracts/model.ts";
import type { ReplyPart } from "../core/message.ts";
import { estimateUsage } from "./estimate-usage.ts";
import { childMove } from "./rehearsal/child.ts";
import type { Move } from "./rehearsal/child.ts";
import { compactionIs, spoken, summaryOf } from "./rehearsal/conversation.ts";
import { foregroundMove } from "./rehearsal/foreground.ts";
import { aborted, streamWords } from "./stream-words.ts";
import { callId, nextCallNumber } from "./tool-call-ids.ts";

export function createRehearsalModel(): Model {
  return {
    async call(request, options) {
      if (options.signal.aborted) throw aborted();
      const parts = partsOfReply(moveOf(request), request);
      for (const part of parts) if (part.type === "text") streamWords(part.text, options);
      return {
        parts,
        usage: estimateUsage(request, parts),
        stop: parts.some((part) => part.type === "tool-call") ? "tools" : "end",
      };
    },
  };
}

function moveOf(request: ModelRequest): Move {
  if (compactionIs(request.messages)) return { say: summaryOf(request.messages) };
  const heard: ModelRequest = { ...request, messages: spoken(request.messages) };
  return childIs(request) ? childMove(heard) : foregroundMove(heard);
}

/** Only a background agent can speak to the user through another; one that can report and not delegate is taken for one too. */
function childIs(request: ModelRequest): boolean {
  const tools = new Set(request.tools.map((tool) => tool.name));
  return (
    tools.has("send_user_message") ||
    (tools.has("send_agent_message") && !tools.has("start_background_agent") && !tools.has("subagent"))
  );
}

function partsOfReply(move: Move, request: ModelRequest): readonly ReplyPart[] {
  if ("say" in move) return [{ type: "text", text: move.say }];
  const first = nextCallNumber(request.messages);
  return move.act.map(({ name, input }, index) => ({ type: "tool-call", id: callId(first + index), name, input }));
}
