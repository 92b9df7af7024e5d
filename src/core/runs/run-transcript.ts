/** A run's own words, gathered from the rows between its creation and its end: for results that are read long after. */

import { findingsOf, findingsOfOutput, findingsWithError } from "../context/run-texts.ts";
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
  /** The model calls under way for it. One that asks for a summary is none of them: what comes of it is nothing that the child says. */
  readonly calls: Set<StepKey>;
  readonly transcript: ContextMessage[];
  readonly reports: Report[];
}

/** One report, as the child sent it. */
export interface Report {
  readonly text: string;
  readonly artifacts: Json;
  readonly data: Json | undefined;
}

interface EndedRun {
  readonly report: ReportKind;
  readonly status: RunStatus | null;
  readonly reason: string | null;
}

export interface RunTranscript {
  /** The replies that entered the child's context. */
  readonly transcript: readonly ContextMessage[];
  /** What one of its tools said last, as its context had it. */
  readonly output: string;
  /** Every report, in order; the last one is the run's. */
  readonly reports: readonly Report[];
}

export function runTranscript(run: RunNumber, rows: readonly JournalRow[]): RunTranscript {
  const gathering: Gathering = { run, calls: new Set(), transcript: [], reports: [] };
  for (const row of rows) {
    const head = headRead(row.head);
    if (head.late !== undefined) continue;
    const { texts } = bodyRead(row.body);
    for (const fact of [head.input, ...(head.events ?? [])]) gather(gathering, fact, row.seq, texts);
  }
  const { transcript, reports } = gathering;
  return { transcript, reports, output: outputText(run, rows) };
}

function outputText(run: RunNumber, rows: readonly JournalRow[]): string {
  const last = lastOutput(run, rows);
  const row = rows.find(({ seq }) => seq === last?.seq);
  const text = last === null || row === undefined ? undefined : bodyRead(row.body).texts[last.index];
  return typeof text === "string" ? text : "";
}

function gather(into: Gathering, fact: Fact, seq: number, texts: readonly Json[]): void {
  const { run, calls, transcript, reports } = into;
  switch (fact.type) {
    case "model-called":
      if (fact.agent === run && fact.purpose === undefined) calls.add(stepKey(seq, fact.n));
      return;
    case "model-replied":
      if (calls.delete(fact.effect) && replyEnters(fact, false))
        transcript.push({ role: "assistant", parts: replyPartsOf(texts[0]) });
      return;
    case "run-reported": {
      if (fact.run !== run) return;
      const call = replyPartsOf(texts[0]).find((part) => part.type === "tool-call" && part.id === fact.call);
      const { text, artifacts, data } = call?.type === "tool-call" && jsonObjectIs(call.input) ? call.input : {};
      reports.push({ text: typeof text === "string" ? text : "", artifacts: artifacts ?? [], data });
      return;
    }
    default:
      return;
  }
}

/** The run's findings in full: what an announcement or a payload may have cut. Earlier reports follow under a heading. */
export function transcriptFindings(run: EndedRun, { transcript, reports, output }: RunTranscript): string {
  const { report } = run;
  const told = { report: reports.at(-1)?.text ?? "" };
  const own = report === "missing" ? findingsOfOutput(output) : findingsOf(report, told, transcript);
  const missed = responseError(run.status, run.reason);
  const findings = missed === null ? own : findingsWithError(missed, report, own);
  const earlier = reports.slice(0, -1).map(({ text }, index) => `[message ${index + 1}]\n${text}`);
  return earlier.length === 0 ? findings : `${findings}\n\nEarlier messages:\n\n${earlier.join("\n\n")}`;
}
