/** Owns the streaming of a text that is already whole: word by word, so that people see it come as from a provider. */

import { ModelFailure } from "../contracts/model.ts";
import type { ModelCallOptions } from "../contracts/model.ts";
import type { Usage } from "../core/values/message.ts";

/** The pieces, joined, are exactly the text. Stops with an `aborted` failure when the signal says so. */
export function streamWords(text: string, { signal, onText }: ModelCallOptions): void {
  if (onText === undefined) return;
  for (const word of text.match(/\s*\S+\s*/g) ?? (text === "" ? [] : [text])) {
    if (signal.aborted) throw aborted();
    onText(word);
  }
}

export function aborted(usage?: Usage): ModelFailure {
  return new ModelFailure("aborted", "The call was aborted.", usage === undefined ? {} : { usage });
}
