/** The text of a message that is sent to the user over the channel. */

import type { Contexts } from "../../context/contexts.ts";
import type { FactOf } from "../../event.ts";
import type { Json } from "../../values/json.ts";
import { replyPartsOf, replyText } from "../../values/message.ts";
import { messageSaid, sayBlocks } from "../index.ts";

/** `reply`: the first text of the row, the reply that is sent. */
export function channelText(
  relays: Contexts["relays"],
  { relay, say }: FactOf<"channel-sent">,
  reply: Json | undefined,
): string {
  const relayed = relay === undefined ? undefined : relays.get(relay);
  if (relayed !== undefined) return `${relayed.name}: ${relayed.text}`;
  const text = replyText(replyPartsOf(reply));
  return say === undefined ? messageSaid(text) : (sayBlocks(text)[say] ?? "");
}
