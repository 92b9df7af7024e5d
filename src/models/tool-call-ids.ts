/**
 * Owns the ids that the models in this folder give to their tool calls: `call_1`, `call_2`, …
 *
 * Invariant: an id follows from the request alone and is in no message of it, also after messages were taken out of the context.
 */

import type { ContextMessage } from "../core/values/message.ts";

/** The numbers from which new ids may be made: above the count of calls, and above every `call_N` there is. */
export function nextCallNumber(messages: readonly ContextMessage[]): number {
  let count = 0;
  let highest = 0;
  for (const message of messages) {
    if (message.role !== "assistant") continue;
    for (const part of message.parts) {
      if (part.type !== "tool-call") continue;
      count++;
      const number = /^call_([1-9]\d{0,8})$/.exec(part.id)?.[1];
      if (number !== undefined) highest = Math.max(highest, Number(number));
    }
  }
  return Math.max(count, highest) + 1;
}

export function callId(number: number): string {
  return `call_${number}`;
}
