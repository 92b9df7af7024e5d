/** A run's own words, gathered from the rows between its creation and its end: for results that are read long after. */

import { findingsOf, findingsWithError } from "../context/run-texts.ts";
import type { Fact } from "../event.ts";
import { type RunNumber, stepKey, type StepKey } from "../ids.ts";
import type { JournalRow, ReportKind, RunStatus } from "../journal.ts";
import { type Json, jsonObjectIs } from "../json.ts";
import { type ContextMessage, replyPartsOf } from "../message.ts";
import { responseError } from "../reports/outcome.ts";
import { bodyRead, headRead } from "../row.ts";

interface Gathering {
  readonly run: RunNumber;
  /** The effects under way for it, by the name of the tool; null for a model. */
  readonly effects: Map<StepKey, string | null>;
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
  readonly transcript: readonly ContextMessage[];
  /** Every report, in order; the last one is the run's. */
  readonly reports: readonly Report[];
}

export function runTranscript(run: RunNumber, rows: Iterable<JournalRow>): RunTranscript {
  const gathering: Gathering = { run, effects: new Map(), transcript: [], reports: [] };
  for (const row of rows) {
    const head = headRead(row.head);
    if (head.late !== undefined) continue;
    const { texts } = bodyRead(row.body);
    for (const fact of [head.input, ...(head.events ?? [])]) gather(gathering, fact, row.seq, texts);
  }
  return gathering;
}

function gather(into: Gathering, fact: Fact, seq: number, texts: readonly Json[]): void {
  const { run, effects, transcript, reports } = into;
  switch (fact.type) {
    case "model-called":
    case "tool-called":
      if (fact.agent === run) effects.set(stepKey(seq, fact.n), fact.type === "tool-called" ? fact.name : null);
      return;
    case "model-replied":
      if (effects.delete(fact.effect)) transcript.push({ role: "assistant", parts: replyPartsOf(texts[0]) });
      return;
    case "tool-finished": {
      const text = texts[0];
      const name = effects.get(fact.effect) ?? "";
      if (!effects.delete(fact.effect) || typeof text !== "string") return;
      transcript.push({ role: "tool", results: [{ id: "", name, text, failed: fact.failed === true }] });
      return;
    }
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
export function transcriptFindings(run: EndedRun, { transcript, reports }: RunTranscript): string {
  const { report } = run;
  const own = findingsOf(report, { report: reports.at(-1)?.text ?? "" }, transcript);
  const missed = responseError(run.status, run.reason);
  const findings = missed === null ? own : findingsWithError(missed, report, own);
  const earlier = reports.slice(0, -1).map(({ text }, index) => `[message ${index + 1}]\n${text}`);
  return earlier.length === 0 ? findings : `${findings}\n\nEarlier messages:\n\n${earlier.join("\n\n")}`;
}
