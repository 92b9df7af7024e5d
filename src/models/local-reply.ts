/** Parts of replies for models without a provider: ids of tool calls, streamed text, estimated usage. */

import { type ModelCallOptions, ModelFailure, type ModelRequest } from "../contracts/model.ts";
import type { ContextMessage, ReplyPart, Usage } from "../core/values/message.ts";

const CHARACTERS_PER_TOKEN = 4;

/**
 * The number N of the next call id `call_N`. It follows from the messages alone, and no message has the id, even if
 * messages were taken out of the context.
 */
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

/** Streams the text word by word. Throws an `aborted` failure if the signal aborts. */
export function streamText(text: string, { signal, onText }: ModelCallOptions): void {
  if (onText === undefined) return;
  for (const word of text.match(/\s*\S+\s*/g) ?? (text === "" ? [] : [text])) {
    if (signal.aborted) throw abortedCall();
    onText(word);
  }
}

export function abortedCall(usage: Usage | null = null): ModelFailure {
  return new ModelFailure("aborted", "The call was aborted.", { usage });
}

/** Four characters count as one token. */
export function estimateUsage(request: ModelRequest, parts: readonly ReplyPart[]): Usage {
  const input = request.system.length + JSON.stringify([request.tools, request.messages]).length;
  const texts = parts.map((part) => (part.type === "tool-call" ? JSON.stringify([part.name, part.input]) : part.text));
  const output = texts.reduce((length, text) => length + text.length, 0);
  return { input: Math.ceil(input / CHARACTERS_PER_TOKEN), output: Math.ceil(output / CHARACTERS_PER_TOKEN) };
}
