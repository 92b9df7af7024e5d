/**
 * The offline model `offline/rehearsal`. It runs the whole system without a key: it splits tasks, uses tools, reports
 * and answers by keywords. It understands no language, and says so.
 *
 * Invariants:
 *  1. A reply follows from the request alone. Nothing is remembered between calls.
 *  2. A call fails only if it is aborted, and costs nothing.
 */

import type { Model, ModelRequest } from "../../contracts/model.ts";
import type { ReplyPart } from "../../core/values/message.ts";
import { abortedCall, callId, estimateUsage, nextCallNumber, streamText } from "../../models/local-reply.ts";
import { composeAnswer } from "./answer.ts";
import { childIs, childMove, type Move } from "./child.ts";
import { compactionIs, summaryOf, withoutNotes } from "./conversation.ts";
import { foregroundMove } from "./foreground.ts";
import type { Pacing } from "./paced.ts";

export function createRehearsalModel(pacing: Pacing | null = null): Model {
  return {
    async call(request, options) {
      if (options.signal.aborted) throw abortedCall();
      if (pacing !== null) await pacing.wait(request, options.signal);
      const parts = replyParts(moveFor(request, pacing), request);
      for (const part of parts) if (part.type === "text") streamText(part.text, options);
      const stop = parts.some((part) => part.type === "tool-call") ? "tools" : "end";
      return { parts, usage: estimateUsage(request, parts), stop };
    },
  };
}

function moveFor(request: ModelRequest, pacing: Pacing | null): Move {
  if (compactionIs(request.messages)) return { say: summaryOf(request.messages) };
  const plain: ModelRequest = { ...request, messages: withoutNotes(request.messages) };
  const move = childIs(request) ? childMove(plain) : foregroundMove(plain, pacing?.compose ?? composeAnswer);
  return pacing === null ? move : pacing.change(move, plain);
}

function replyParts(move: Move, request: ModelRequest): readonly ReplyPart[] {
  if ("say" in move) return [{ type: "text", text: move.say }];
  const first = nextCallNumber(request.messages);
  return move.act.map(({ name, input }, index) => ({ type: "tool-call", id: callId(first + index), name, input }));
}
