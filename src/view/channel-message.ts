/**
 * Messages that were sent to the user, by their part in the answer (rule D13):
 *
 * - `answer`: the agent's reply called no tool, and ended its turn;
 * - `relay`: a child's message for the user that the agent did not present, sent as it is under the child's name;
 * - `commentary`: text beside a tool call. It is no part of the answer.
 */

import type { FactOf } from "../core/event.ts";
import type { Json } from "../core/values/json.ts";
import { replyPartsOf } from "../core/values/message.ts";

/** Why a message was sent to the user. */
export type ChannelMessageKind = "answer" | "relay" | "commentary";

/** `reply`: the first text of the row, the reply that was sent. Rows of decide revision 3 do not mark commentary. */
export function channelMessageKind(fact: FactOf<"channel-sent">, reply: Json | undefined): ChannelMessageKind {
  if (fact.relay !== undefined) return "relay";
  const calls = fact.commentary === true || replyPartsOf(reply).some((part) => part.type === "tool-call");
  return calls ? "commentary" : "answer";
}

/** The answer in these messages, its parts joined by a blank line; null without one. */
export function answerOf(
  messages: readonly { readonly kind: ChannelMessageKind; readonly text: string }[],
): string | null {
  const parts = messages.filter(({ kind }) => kind !== "commentary").map(({ text }) => answerPart(text));
  return parts.length === 0 ? null : parts.join("\n\n");
}

/** A part without the empty lines around it, so that one blank line separates two parts. */
function answerPart(text: string): string {
  return text.replace(/^\s*\n/, "").trimEnd();
}
