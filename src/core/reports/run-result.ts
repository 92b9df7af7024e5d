/**
 * The result of a run: decided when the run ends, and recorded with its end. Contexts, `read_result`, lists and erasure
 * read that record, never the child's own rows.
 */

import type { ReportKind } from "../journal/journal.ts";
import type { EndTexts, RunEnd } from "../step.ts";
import { codePointsPrefix } from "../text/index.ts";
import { type Json, jsonObjectIs } from "../values/json.ts";
import type { ContextMessage } from "../values/message.ts";
import { findingsOfEnd, type LastWords, salvagedFindings, taggedFindings } from "./findings.ts";
import { artifactRead, type Report, reportWhole } from "./report.ts";

export interface RunResult extends Report {
  /** The other reports, whole. */
  readonly earlier: readonly string[];
}

/** What a child left when its run ends. */
export interface ChildTexts {
  readonly reports: readonly Report[];
  readonly final: Report | null;
  readonly refused: string | null;
  readonly messages: readonly ContextMessage[];
  /** Its last words in messages that a summary replaced. */
  readonly earlierWords: LastWords;
  /** The provider's message when the newest model call failed; null once a call succeeded. */
  readonly failure: string | null;
}

const NO_REPORT: Report = { text: "", artifacts: [], data: undefined };
export const NO_RESULT: RunResult = { ...NO_REPORT, earlier: [] };

/** `reported`: how the child has reported, or null. */
export function endTexts(child: ChildTexts, end: RunEnd, reported: "tool" | "tag" | null): EndTexts {
  const { reports, final, messages, earlierWords } = child;
  const counts = reported !== "tool" ? null : end.final === true && final !== null ? final : (reports.at(-1) ?? null);
  const [kind, found]: [ReportKind, string] =
    counts !== null
      ? ["tool", counts.text]
      : reported === "tag"
        ? ["tag", taggedFindings(messages)]
        : salvagedFindings(messages, earlierWords);
  const text = findingsOfEnd(kind, found, end);
  const earlier = reports.filter((report) => report !== counts).map(reportWhole);
  return { kind, result: resultToJson({ ...(counts ?? NO_REPORT), text, earlier }), error: errorOf(child, end) };
}

const ERROR_LENGTH = 2_000;

/** Why the run did not end well. It is bounded, because it enters the parent's context. */
function errorOf({ refused, failure }: ChildTexts, { status, reason, error }: RunEnd): string | null {
  if (status === "ok") return null;
  const timedOut =
    status === "timeout" && failure !== null ? `timed out; the last model call failed: ${failure}` : null;
  const words = error ?? (reason === "invalid-output" ? refused : null) ?? timedOut;
  if (words === null) return null;
  const kept = codePointsPrefix(words, ERROR_LENGTH);
  return kept.length < words.length ? `${kept}…` : words;
}

/** The record of a result. Empty members are left out. */
function resultToJson({ text, artifacts, data, earlier }: RunResult): Json {
  return {
    text,
    ...(artifacts.length === 0 ? {} : { artifacts: artifacts.map(({ kind, value }) => ({ kind, value })) }),
    ...(data === undefined ? {} : { data }),
    ...(earlier.length === 0 ? {} : { earlier }),
  };
}

export function resultFromJson(value: Json | undefined): RunResult {
  if (!jsonObjectIs(value)) return NO_RESULT;
  const { text, artifacts, data, earlier } = value;
  return {
    text: typeof text === "string" ? text : "",
    artifacts: listed(artifacts).map(artifactRead),
    data,
    earlier: listed(earlier).filter((one) => typeof one === "string"),
  };
}

function listed(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : [];
}

/**
 * The whole result, of which an announcement or a payload may have cut parts. The other reports follow under a heading.
 */
export function resultWhole(result: RunResult): string {
  const whole = reportWhole(result);
  const earlier = result.earlier.map((other, index) => `[message ${index + 1}]\n${other}`);
  return earlier.length === 0 ? whole : `${whole}\n\nEarlier messages:\n\n${earlier.join("\n\n")}`;
}
