/**
 * Owns the line between what was said to an agent and what the runtime adds for the model to see.
 *
 * Invariants:
 *  1. Lines in brackets at the end of a message (D11: children that are running; D8: children that were announced) are no words of
 *     the user: they are taken off, and a message of nothing else is none.
 *  2. The messages given are not changed.
 */

import { COMPACTION_REQUEST } from "../../core/text/prompts/system-prompts.ts";
import { type ContextMessage, replyText } from "../../core/values/message.ts";
import { shorten } from "./wording.ts";

const SUMMARY_LIMIT = 4000;

export function spoken(messages: readonly ContextMessage[]): readonly ContextMessage[] {
  return messages.flatMap((message): readonly ContextMessage[] => {
    if (message.role !== "user") return [message];
    const lines = message.text.split("\n");
    const last = lines.findLastIndex((line) => line.trim() !== "" && !noteIs(line.trim()));
    return last < 0 ? [] : [{ role: "user", text: lines.slice(0, last + 1).join("\n") }];
  });
}

function noteIs(line: string): boolean {
  return line.startsWith("[") && line.endsWith("]");
}

/** True if the model is asked to sum up its conversation, so that it can go on without it. */
export function compactionIs(messages: readonly ContextMessage[]): boolean {
  const last = messages.at(-1);
  return last?.role === "user" && last.text.endsWith(COMPACTION_REQUEST);
}

/** What was said, from the newest back, as far as there is room. */
export function summaryOf(messages: readonly ContextMessage[]): string {
  const lines: string[] = [];
  let room = SUMMARY_LIMIT;
  for (const message of spoken(messages).toReversed()) {
    const text = message.role === "user" ? message.text : message.role === "assistant" ? replyText(message.parts) : "";
    if (text.trim() === "" || text.endsWith(COMPACTION_REQUEST)) continue;
    const line = `${message.role === "user" ? "Told" : "Answered"}: ${shorten(text, 600)}`;
    room -= line.length;
    if (room < 0) break;
    lines.unshift(line);
  }
  return lines.length === 0 ? "Nothing was said yet." : lines.join("\n");
}
