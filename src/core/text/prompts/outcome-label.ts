/** An outcome in words, on one line: for announcements, short lines and payloads. */

import { quoted } from "../frame.ts";
import { codePointsPrefix, statusLabel } from "../index.ts";
import type { RunOutcome } from "../../context/run-texts.ts";

const MAX_ERROR = 200;
/** Reasons whose errors are Errand's own words. */
const OWN_ERRORS: ReadonlySet<string> = new Set(["no-report", "model-call-limit"]);

export function outcomeLabel(outcome: RunOutcome | null): string {
  if (outcome === null) return statusLabel(null);
  const { reason } = outcome;
  const error = outcome.error === null ? reason : errorWords(outcome.error, OWN_ERRORS.has(reason ?? ""));
  return statusLabel({
    status: outcome.status,
    ...(outcome.reason === null ? {} : { reason: outcome.reason }),
    ...(error === null ? {} : { error }),
  });
}

/** An error that a provider, a tool or a child wrote becomes a JSON string (rule I26). */
function errorWords(error: string, own: boolean): string {
  const words = codePointsPrefix(firstLine(error), MAX_ERROR).trim();
  return own || words === "" ? words : quoted(words);
}

/** Without "Error:" at the beginning, because the label already says "failed". */
function firstLine(error: string): string {
  return (error.split("\n", 1)[0] ?? "").replace(/^(?:Error: )+/, "");
}

/** The text with a full stop, unless it ends as a sentence. */
export function sentenceEnd(text: string): string {
  return /[.!?…]"?$/.test(text) ? text : `${text}.`;
}
