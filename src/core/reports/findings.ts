/**
 * What stands for the result of a run, whatever the child forgot (rules B3, B4, B6). The kernel asks once, when the run ends, and records the result.
 */

import { delegationToolIs } from "../delegation/tools.ts";
import type { ReportKind, RunStatus } from "../journal/journal.ts";
import { messageNoMessageIs, salvageText, tagExtract } from "../text/index.ts";
import { NUDGE_TAG, NUDGE_TOOL } from "../text/prompts/nudges.ts";
import { type ContextMessage, type ReplyPart, replyText } from "../values/message.ts";

/** Stands in a context for a reply without any part, so that roles alternate and a nudge stands alone. A model that writes it says nothing. */
export const EMPTY_REPLY = "(empty reply)";
/** The response text of a run that had to answer in a tag and did not (rule B4). */
export const NO_RESPONSE = "Error: subagent did not produce a response.";
const SALVAGED = "Salvaged from its last words:";
const LAST_TOOL_OUTPUT = "No final answer. Last tool output:";

/** What could stand for the result of a run that made no report. */
export interface LastWords {
  /** The child's last words; those before the nudge if it was nudged. */
  readonly words: string;
  /** Its last words after the nudge; null without a nudge. */
  readonly afterNudge: string | null;
  /** The last output of its own tools. */
  readonly output: string;
}

export const NO_WORDS: LastWords = { words: "", afterNudge: null, output: "" };

/** The last words in these messages, or else those before them. */
export function lastWords(messages: readonly ContextMessage[], before: LastWords): LastWords {
  const output = lastToolOutput(messages) || before.output;
  const nudge = messages.findLastIndex(nudgeIs);
  if (nudge >= 0) {
    const words = lastSalvage(messages.slice(0, nudge)) || before.words;
    return { words, afterNudge: lastSalvage(messages.slice(nudge + 1)), output };
  }
  const words = lastSalvage(messages);
  if (before.afterNudge === null) return { words: words || before.words, afterNudge: null, output };
  return { words: before.words, afterNudge: words || before.afterNudge, output };
}

/** The findings of a run that made no report, and how they came about. */
export function salvagedFindings(messages: readonly ContextMessage[], before: LastWords): [ReportKind, string] {
  const last = lastWords(messages, before);
  const words = joinedWords(last);
  if (words !== "") return ["salvaged", words];
  const output = salvageText(last.output);
  return ["missing", output === "" ? "" : `${LAST_TOOL_OUTPUT}\n${output}`];
}

/** The response text of a run that reports by tag. */
export function taggedFindings(messages: readonly ContextMessage[]): string {
  const last = messages.findLast((message) => message.role === "assistant");
  return (last?.role === "assistant" ? tagExtract(replyText(last.parts), "response") : null) ?? "";
}

/** The findings with the error before them that rule B4 asks for. */
export function findingsOfEnd(
  kind: ReportKind,
  found: string,
  end: { readonly status: RunStatus; readonly reason?: string | undefined },
): string {
  if (end.status !== "error" || end.reason !== "no-report") return found;
  if (found === "") return NO_RESPONSE;
  return kind === "salvaged" ? `${NO_RESPONSE}\n\n${SALVAGED}\n${found}` : `${NO_RESPONSE}\n\n${found}`;
}

/** Words before the nudge are the result; words after it mostly only talk about it. */
function joinedWords({ words, afterNudge }: LastWords): string {
  if (afterNudge === null || afterNudge === "" || afterNudge === words) return words;
  return words === "" ? afterNudge : `${words}\n\n${afterNudge}`;
}

function nudgeIs(message: ContextMessage): boolean {
  return message.role === "user" && (message.text === NUDGE_TOOL || message.text === NUDGE_TAG);
}

function lastSalvage(messages: readonly ContextMessage[]): string {
  for (const message of messages.toReversed()) {
    const text = message.role === "assistant" ? salvagedWords(message.parts) : "";
    if (text !== "") return text;
  }
  return "";
}

function salvagedWords(parts: readonly ReplyPart[]): string {
  const text = replyText(parts);
  const words = text === "" ? "" : salvageText(text);
  return words === EMPTY_REPLY || messageNoMessageIs(words) ? "" : words;
}

/** Answers of delegation tools are not output of the child. */
function lastToolOutput(messages: readonly ContextMessage[]): string {
  for (const message of messages.toReversed()) {
    if (message.role !== "tool") continue;
    const result = message.results.findLast((given) => given.text.trim() !== "" && !delegationToolIs(given.name));
    if (result !== undefined) return result.text;
  }
  return "";
}
