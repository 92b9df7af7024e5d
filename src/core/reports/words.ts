/** Which words of a child count: those of replies that entered its context, without its thoughts, unless they mean that it says nothing. */

import type { Fact } from "../event.ts";
import { type ReplyPart, replyText } from "../message.ts";
import { messageNoMessageIs, salvageText } from "../text/index.ts";

/** A refusal does not enter the context, and a summary that was asked for to make room enters it as such. */
export function replyEnters(
  { stop }: Pick<Extract<Fact, { type: "model-replied" }>, "stop">,
  summary: boolean,
): boolean {
  return stop !== "refused" && !summary;
}

/** Stands in a context for a reply without any part, so that roles alternate and a nudge stands alone. A model that says it says nothing. */
export const EMPTY_REPLY = "(empty reply)";

/** What of a reply can stand for the result of a run that reported none (rule B6), or nothing. */
export function salvagedWords(parts: readonly ReplyPart[]): string {
  const text = replyText(parts);
  const words = text === "" ? "" : salvageText(text);
  return words === EMPTY_REPLY || messageNoMessageIs(words) ? "" : words;
}
