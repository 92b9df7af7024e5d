/** A run's own words, gathered from the rows between its creation and its end: for results that are read long after. */

import { NUDGE_TOOL } from "../context/nudges.ts";
import { type ReportTexts, reportTexts, reportWhole } from "../context/report-texts.ts";
import { errorBounded, findingsOf, findingsOfOutput, findingsWithError, timedOutError } from "../context/run-texts.ts";
import type { Fact } from "../event.ts";
import { type RunNumber, stepKey, type StepKey } from "../ids.ts";
import type { JournalRow, ReportKind, RunStatus } from "../journal.ts";
import { type Json, jsonObjectIs } from "../json.ts";
import { type ContextMessage, replyPartsOf } from "../message.ts";
import { responseError } from "../reports/outcome.ts";
import { replyEnters } from "../reports/words.ts";
import { bodyRead, headRead } from "../row.ts";
import { lastOutput } from "./last-output.ts";

interface Gathering {
  readonly run: RunNumber;
  /** The model calls under way for it: true for one whose reply the child says, false for one that asks for a summary. */
  readonly calls: Map<StepKey, boolean>;
  readonly transcript: ContextMessage[];
  readonly reports: ReportTexts[];
  /** The newest final report. */
  final: ReportTexts | null;
  typed: boolean;
  /** What the provider said when the newest model call failed, and why the newest report was refused. */
  failure: string | null;
  refused: string | null;
  error: string | null;
  ended: Extract<Fact, { type: "run-ended" }> | null;
}

interface EndedRun {
  readonly report: ReportKind;
  readonly status: RunStatus | null;
  readonly reason: string | null;
}

export interface RunTranscript {
  /** The replies that entered the child's context, and the nudge. */
  readonly transcript: readonly ContextMessage[];
  /** What one of its tools said last, as its context had it. */
  readonly output: string;
  /** Every report, in order. */
  readonly reports: readonly ReportTexts[];
  /** The one that counts, or null. */
  readonly report: ReportTexts | null;
  /** Why the run did not end well, in words of the kernel or of the provider; null where nothing more is known than its reason. */
  readonly error: string | null;
  /** Why the closing call of a run that had reported did not come to an end. */
  readonly closed: string | null;
}

export function runTranscript(run: RunNumber, rows: readonly JournalRow[]): RunTranscript {
  const gathering: Gathering = {
    run,
    calls: new Map(),
    transcript: [],
    reports: [],
    final: null,
    typed: false,
    failure: null,
    refused: null,
    error: null,
    ended: null,
  };
  for (const row of rows) {
    const head = headRead(row.head);
    if (head.late !== undefined) continue;
    const { texts } = bodyRead(row.body);
    for (const fact of [head.input, ...(head.events ?? [])]) gather(gathering, fact, row.seq, texts);
  }
  const { transcript, reports, final, ended } = gathering;
  const report = ended?.final === true ? final : (reports.at(-1) ?? null);
  const closed = ended?.closed ?? null;
  return { transcript, reports, report, output: outputText(run, rows), error: errorOf(gathering), closed };
}

function errorOf({ ended, error, refused, failure }: Gathering): string | null {
  if (ended === null || ended.status === "ok") return null;
  const timedOut = ended.status === "timeout" && failure !== null ? timedOutError(failure) : null;
  const told = error ?? (ended.reason === "invalid-output" ? refused : null) ?? timedOut;
  return told === null ? null : errorBounded(told);
}

function outputText(run: RunNumber, rows: readonly JournalRow[]): string {
  const last = lastOutput(run, rows);
  const row = rows.find(({ seq }) => seq === last?.seq);
  return last === null || row === undefined ? "" : textOf(bodyRead(row.body).texts[last.index]);
}

function textOf(text: Json | undefined): string {
  return typeof text === "string" ? text : "";
}

function gather(into: Gathering, fact: Fact, seq: number, texts: readonly Json[]): void {
  const { run, calls, transcript } = into;
  switch (fact.type) {
    case "run-created":
      if (fact.run === run) into.typed = fact.typed === true;
      return;
    case "model-called":
      if (fact.agent === run) calls.set(stepKey(seq, fact.n), fact.purpose === undefined);
      return;
    case "model-failed":
      if (calls.has(fact.effect)) into.failure = textOf(texts[0]);
      return;
    case "model-replied": {
      const spoken = calls.get(fact.effect);
      if (spoken === undefined) return;
      calls.delete(fact.effect);
      into.failure = null;
      if (spoken && replyEnters(fact, false)) transcript.push({ role: "assistant", parts: replyPartsOf(texts[0]) });
      return;
    }
    case "nudge-given":
      if (fact.agent === run && fact.about === "report") transcript.push({ role: "user", text: NUDGE_TOOL });
      return;
    case "run-reported":
      if (fact.run === run) reported(into, fact, texts[0]);
      return;
    case "run-report-refused":
      if (fact.run === run) into.refused = textOf(texts[fact.problem]);
      return;
    case "run-ended":
      if (fact.run !== run) return;
      into.ended = fact;
      into.error = fact.error === undefined ? null : textOf(texts[fact.error]);
      return;
    default:
      return;
  }
}

function reported(into: Gathering, fact: Extract<Fact, { type: "run-reported" }>, reply: Json | undefined): void {
  const call = replyPartsOf(reply).find((part) => part.type === "tool-call" && part.id === fact.call);
  const report = reportTexts(call?.type === "tool-call" && jsonObjectIs(call.input) ? call.input : {}, into.typed);
  into.reports.push(report);
  into.refused = null;
  if (fact.final === true) into.final = report;
}

/** The run's own words, or what stands for them. */
export function transcriptFindings(run: EndedRun, { transcript, report, output }: RunTranscript): string {
  const kind = run.report;
  const own = kind === "missing" ? findingsOfOutput(output) : findingsOf(kind, report?.text ?? "", transcript);
  const missed = responseError(run.status, run.reason);
  return missed === null ? own : findingsWithError(missed, kind, own);
}

/** All that the run left: what an announcement or a payload may have cut. Earlier reports follow under a heading. */
export function transcriptWhole(run: EndedRun, ended: RunTranscript): string {
  const { report, reports } = ended;
  const text = transcriptFindings(run, ended);
  const whole = report === null || run.report !== "tool" ? text : reportWhole({ ...report, text });
  const earlier = reports
    .filter((other) => other !== report)
    .map((other, index) => `[message ${index + 1}]\n${reportWhole(other)}`);
  return earlier.length === 0 ? whole : `${whole}\n\nEarlier messages:\n\n${earlier.join("\n\n")}`;
}
