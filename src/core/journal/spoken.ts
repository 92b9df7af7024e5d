/**
 * Messages that were sent to the user, by their part in the answer (rule D13):
 *
 * - `answer`: the agent's reply called no tool, and ended its turn;
 * - `relay`: a child's message for the user that the agent did not present, sent as it is under the child's name;
 * - `commentary`: text beside a tool call. It is no part of the answer.
 */

import type { FactOf } from "../event.ts";
import type { Json } from "../values/json.ts";
import type { Contexts } from "../context/contexts.ts";
import { messageSaid, sayBlocks } from "../text/index.ts";
import { replyPartsOf, replyText } from "../values/message.ts";

export type SpokenKind = "answer" | "relay" | "commentary";
type ChannelSent = FactOf<"channel-sent">;

/** `reply`: the first text of the row, the reply that was sent. Rows of decide revision 3 do not mark commentary. */
export function spokenKind(fact: ChannelSent, reply: Json | undefined): SpokenKind {
  if (fact.relay !== undefined) return "relay";
  const calls = fact.commentary === true || replyPartsOf(reply).some((part) => part.type === "tool-call");
  return calls ? "commentary" : "answer";
}

/** The text that was sent to the user. */
export function channelText(relays: Contexts["relays"], { relay, say }: ChannelSent, reply: Json | undefined): string {
  const relayed = relay === undefined ? undefined : relays.get(relay);
  if (relayed !== undefined) return `${relayed.name}: ${relayed.text}`;
  const text = replyText(replyPartsOf(reply));
  return say === undefined ? messageSaid(text) : (sayBlocks(text)[say] ?? "");
}

/** The answer in these messages, its parts joined by a blank line; null without one. */
export function answerOf(messages: readonly { readonly kind: SpokenKind; readonly text: string }[]): string | null {
  const parts = messages.filter(({ kind }) => kind !== "commentary").map(({ text }) => answerPart(text));
  return parts.length === 0 ? null : parts.join("\n\n");
}

/** A part without the empty lines around it, so that one blank line stands between two. */
function answerPart(text: string): string {
  return text.replace(/^\s*\n/, "").trimEnd();
}
