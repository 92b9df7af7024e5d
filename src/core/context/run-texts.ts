/** What is known of a run until its outcome is in its parent's context: its name, its report, and once it has ended the outcome. */

import { delegationToolIs } from "../agent/delegation-tools.ts";
import type { Json } from "../json.ts";
import type { ReportKind, RunStatus, Sha256 } from "../journal.ts";
import type { ContextMessage } from "../message.ts";
import { replyText } from "../message.ts";
import { salvagedWords } from "../reports/words.ts";
import { codePointsPrefix, salvageText, tagExtract } from "../text/index.ts";
import { NUDGE_TAG, NUDGE_TOOL } from "./nudges.ts";
import type { ReportTexts } from "./report-texts.ts";

export interface TaskFacts {
  /** SHA-256 of the task with CRLF as LF, trimmed; base64url. */
  readonly hash: string;
  /** The first 80 code points. */
  readonly preview: string;
}

export function taskFacts(task: string, sha256: Sha256): TaskFacts {
  return { hash: sha256(task.replaceAll("\r\n", "\n").trim()), preview: codePointsPrefix(task, PREVIEW_LENGTH) };
}

const PREVIEW_LENGTH = 80;

export interface RunOutcomeTexts {
  readonly status: RunStatus;
  readonly reason: string | null;
  readonly error: string | null;
  readonly report: ReportKind;
  readonly nudged: boolean;
  /** The findings: the report, or what was salvaged of it, or empty. */
  readonly findings: string;
  readonly startedAt: number | null;
  readonly endedAt: number;
  readonly tokens: number;
  readonly cost: number;
}

export interface RunTexts {
  readonly id: string;
  readonly agent: string;
  readonly name: string;
  /** Rule F8: what a delegation is known by outside. */
  readonly task: TaskFacts;
  /** JSON Schema of the result's data, where one was given. */
  readonly schema: Json | undefined;
  /** Reports so far; the last one counts, unless a final one ends the run. */
  reports: number;
  report: ReportTexts;
  final: ReportTexts | null;
  /** Why its newest report could not be taken, where it could not. */
  refused: string | null;
  outcome: RunOutcomeTexts | null;
}

export const NO_OUTPUT = "(no output)";
const SALVAGED = "Salvaged from its last words:";
const LAST_TOOL_OUTPUT = "No final answer. Last tool output:";

const ERROR_LENGTH = 2_000;

/** What is told of an error: it enters the parent's context, so it is bounded like all that does. */
export function errorBounded(error: string): string {
  const kept = codePointsPrefix(error, ERROR_LENGTH);
  return kept.length < error.length ? `${kept}…` : error;
}

/** Why a run timed out whose model was failing. */
export function timedOutError(failure: string): string {
  return `timed out; the last model call failed: ${failure}`;
}

/** The findings of a run that had to answer in a tag and did not: the error first, then what was salvaged, labelled (rule B4). */
export function findingsWithError(error: string, kind: ReportKind, found: string): string {
  if (found === "") return error;
  return kind === "salvaged" ? `${error}\n\n${SALVAGED}\n${found}` : `${error}\n\n${found}`;
}

/** What could stand for the result of a run that reported none (rule B6). */
export interface LastSaid {
  /** The last words of its child, up to the nudge if there was one. */
  readonly words: string;
  /** Its last words after the nudge; null if there was no nudge. */
  readonly nudged: string | null;
  /** The last output of its tools. */
  readonly output: string;
}

export const NOTHING_SAID: LastSaid = { words: "", nudged: null, output: "" };

/** What was said last in these messages, or else before them. */
export function lastSaid(messages: readonly ContextMessage[], before: LastSaid): LastSaid {
  const output = lastToolOutput(messages) || before.output;
  const nudge = messages.findLastIndex(nudgeIs);
  if (nudge >= 0) {
    const words = lastSalvage(messages.slice(0, nudge)) || before.words;
    return { words, nudged: lastSalvage(messages.slice(nudge + 1)), output };
  }
  const words = lastSalvage(messages);
  if (before.nudged === null) return { words: words || before.words, nudged: null, output };
  return { words: before.words, nudged: words || before.nudged, output };
}

function nudgeIs(message: ContextMessage): boolean {
  return message.role === "user" && (message.text === NUDGE_TOOL || message.text === NUDGE_TAG);
}

/** The words before the nudge are the results; what follows it mostly only talks about them. */
function wordsSaid({ words, nudged }: LastSaid): string {
  if (nudged === null || nudged === "" || nudged === words) return words;
  return words === "" ? nudged : `${words}\n\n${nudged}`;
}

/** What a run leaves to its parent, by where it comes from (rule B6). `before` is what was said before the transcript begins. */
export function findingsOf(
  kind: ReportKind,
  report: string,
  transcript: readonly ContextMessage[],
  before = NOTHING_SAID,
): string {
  switch (kind) {
    case "tool":
      return report;
    case "tag":
      return tagExtract(lastReplyText(transcript), "response") ?? "";
    case "salvaged":
      return wordsSaid(lastSaid(transcript, before));
    case "missing":
      return findingsOfOutput(lastSaid(transcript, before).output);
  }
}

/** The findings of a run that said nothing, from the last that one of its tools said. */
export function findingsOfOutput(output: string): string {
  const words = salvageText(output);
  return words === "" ? "" : `${LAST_TOOL_OUTPUT}\n${words}`;
}

function lastReplyText(transcript: readonly ContextMessage[]): string {
  const last = transcript.findLast((message) => message.role === "assistant");
  return last?.role === "assistant" ? replyText(last.parts) : "";
}

function lastSalvage(transcript: readonly ContextMessage[]): string {
  for (let index = transcript.length - 1; index >= 0; index -= 1) {
    const message = transcript[index];
    if (message?.role !== "assistant") continue;
    const text = salvagedWords(message.parts);
    if (text !== "") return text;
  }
  return "";
}

/** The newest output of a tool that does something; what delegation tools answer is no output of the child. */
function lastToolOutput(transcript: readonly ContextMessage[]): string {
  for (let index = transcript.length - 1; index >= 0; index -= 1) {
    const message = transcript[index];
    if (message?.role !== "tool") continue;
    const result = message.results.findLast((given) => given.text.trim() !== "" && !delegationToolIs(given.name));
    if (result !== undefined) return result.text;
  }
  return "";
}
