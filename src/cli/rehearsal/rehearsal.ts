/**
 * Owns the offline model `offline/rehearsal`: it runs the whole machine without a key. It divides tasks, uses tools, reports and
 * answers by keywords, without understanding a word, and says so.
 *
 * Invariants:
 *  1. A reply follows from the request alone: same request, same bytes. Nothing is kept between calls.
 *  2. It never fails but when it is aborted, and costs nothing.
 *  3. A manner changes when a reply comes and which move it makes; what a move is made of stays the same.
 */

import type { Model, ModelRequest } from "../../contracts/model.ts";
import type { ReplyPart } from "../../core/values/message.ts";
import { composeAnswer } from "./answer.ts";
import { childIs, childMove, type Move } from "./child.ts";
import { compactionIs, spoken, summaryOf } from "./conversation.ts";
import { foregroundMove } from "./foreground.ts";
import type { Manner } from "./paced.ts";
import { abortedCall, callId, estimateUsage, nextCallNumber, streamText } from "../../models/local-reply.ts";

export function createRehearsalModel(manner: Manner | null = null): Model {
  return {
    async call(request, options) {
      if (options.signal.aborted) throw abortedCall();
      if (manner !== null) await manner.due(request, options.signal);
      const parts = partsOfReply(moveOf(request, manner), request);
      for (const part of parts) if (part.type === "text") streamText(part.text, options);
      return {
        parts,
        usage: estimateUsage(request, parts),
        stop: parts.some((part) => part.type === "tool-call") ? "tools" : "end",
      };
    },
  };
}

function moveOf(request: ModelRequest, manner: Manner | null): Move {
  if (compactionIs(request.messages)) return { say: summaryOf(request.messages) };
  const heard: ModelRequest = { ...request, messages: spoken(request.messages) };
  const usual = childIs(request) ? childMove(heard) : foregroundMove(heard, manner?.compose ?? composeAnswer);
  return manner === null ? usual : manner.move(heard, usual);
}

function partsOfReply(move: Move, request: ModelRequest): readonly ReplyPart[] {
  if ("say" in move) return [{ type: "text", text: move.say }];
  const first = nextCallNumber(request.messages);
  return move.act.map(({ name, input }, index) => ({ type: "tool-call", id: callId(first + index), name, input }));
}
