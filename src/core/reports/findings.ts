/**
 * What counts as the result of a run that made no report by tool (rules B3, B4, B6). It is decided once, when the run
 * ends, and recorded.
 */

import { delegationToolIs } from "../delegation/tools.ts";
import type { ReportKind, RunStatus } from "../journal/journal.ts";
import { messageNoMessageIs, salvageText, tagExtract } from "../text/index.ts";
import { NUDGE_TAG, NUDGE_TOOL } from "../text/prompts/nudges.ts";
import { type ContextMessage, type ReplyPart, replyText } from "../values/message.ts";

/**
 * Stands in a context for a reply without any part, so that roles alternate. As a model's words it counts as nothing.
 */
export const EMPTY_REPLY = "(empty reply)";
/** The response text of a run that had to answer in a tag and did not (rule B4). */
export const NO_RESPONSE = "Error: subagent did not produce a response.";
const SALVAGED = "Salvaged from its last words:";
const LAST_TOOL_OUTPUT = "No final answer. Last tool output:";

/** What can replace the report of a run. */
export interface LastWords {
  /** The child's last words; those before the nudge if it was nudged. */
  readonly words: string;
  /** Its last words after the nudge; null without a nudge. */
  readonly afterNudge: string | null;
  /** The last output of its own tools. */
  readonly output: string;
}

export const NO_WORDS: LastWords = { words: "", afterNudge: null, output: "" };

/** The last words in these messages; where they hold none, the earlier ones. */
export function lastWords(messages: readonly ContextMessage[], earlier: LastWords): LastWords {
  const output = lastToolOutput(messages) || earlier.output;
  const nudge = messages.findLastIndex(nudgeIs);
  if (nudge >= 0) {
    const words = lastSalvage(messages.slice(0, nudge)) || earlier.words;
    return { words, afterNudge: lastSalvage(messages.slice(nudge + 1)), output };
  }
  const words = lastSalvage(messages);
  if (earlier.afterNudge === null) return { words: words || earlier.words, afterNudge: null, output };
  return { words: earlier.words, afterNudge: words || earlier.afterNudge, output };
}

/** The findings of a run that made no report, and how they came about. */
export function salvagedFindings(messages: readonly ContextMessage[], earlier: LastWords): [ReportKind, string] {
  const last = lastWords(messages, earlier);
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

/** The findings after the error text of rule B4, if the run ended with it. */
export function findingsOfEnd(
  kind: ReportKind,
  found: string,
  end: { readonly status: RunStatus; readonly reason?: string | undefined },
): string {
  if (end.status !== "error" || end.reason !== "no-report") return found;
  if (found === "") return NO_RESPONSE;
  return kind === "salvaged" ? `${NO_RESPONSE}\n\n${SALVAGED}\n${found}` : `${NO_RESPONSE}\n\n${found}`;
}

/** Words before the nudge come first: words after it are mostly about the nudge. */
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
    const result = message.results.findLast(({ text, name }) => text.trim() !== "" && !delegationToolIs(name));
    if (result !== undefined) return result.text;
  }
  return "";
}
