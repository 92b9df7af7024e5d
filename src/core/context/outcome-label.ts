/** An outcome in words, on one line: for announcements, short lines and payloads. */

import { quoted } from "../text/frame.ts";
import { codePointsPrefix, statusLabel } from "../text/index.ts";
import type { RunOutcomeTexts } from "./run-texts.ts";

const MAX_ERROR = 200;

export function outcomeLabel(outcome: RunOutcomeTexts | null): string {
  if (outcome === null) return statusLabel(null);
  // A reason is a word of Errand's; an error was written by a provider, a tool or a child.
  const error = outcome.error === null ? outcome.reason : errorWords(outcome.error);
  return statusLabel({
    status: outcome.status,
    ...(outcome.reason === null ? {} : { reason: outcome.reason }),
    ...(error === null ? {} : { error }),
  });
}

function errorWords(error: string): string {
  const words = codePointsPrefix(firstLine(error), MAX_ERROR).trim();
  return words === "" ? "" : quoted(words);
}

/** The label says "failed" already: an error that begins with "Error:" does not say it again. */
function firstLine(error: string): string {
  return (error.split("\n", 1)[0] ?? "").replace(/^(?:Error: )+/, "");
}

/** The text with a full stop, unless it ends as a sentence already. */
export function sentenceEnd(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}
