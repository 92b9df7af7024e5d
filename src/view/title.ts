/** What a conversation is about: the first message of its user, or the task that a program gave it. */

import { jsonObjectIs } from "../core/values/json.ts";
import { textAt, type TreeEvent } from "./tree-event.ts";

/** `found` without a text: the text was erased. */
export interface Asked {
  readonly found: boolean;
  readonly text: string | null;
}

/** What was asked in these first events of a tree. */
export function firstAsked(events: readonly TreeEvent[]): Asked {
  for (const { facts, texts, rejected } of events) {
    const [input] = facts;
    if (rejected !== null || input === undefined) continue;
    if (input.type === "message-posted" && input.to === 0 && input.kind !== "system")
      return { found: true, text: textAt(texts, 0) };
    if (input.type === "run-asked" && input.parent === 0) {
      const [args = null] = texts;
      const task = jsonObjectIs(args) ? args["task"] : null;
      return { found: true, text: typeof task === "string" ? task : null };
    }
  }
  return { found: false, text: null };
}
