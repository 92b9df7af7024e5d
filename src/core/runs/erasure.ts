/**
 * `cleanup: "delete"`: once a run's outcome is in its parent's context, the child's texts are erased, but for what that context is made of.
 *
 * Invariants:
 *  1. Heads stay, so the chain and every decision stay provable; the erasure records what is left of each body.
 *  2. Folding the rows after the erasure gives the parent's context as before, byte for byte.
 */

import type { Deciding } from "../deciding.ts";
import type { Decided, Fact, TextIndex } from "../event.ts";
import { type RunNumber, stepKey, type StepKey } from "../ids.ts";
import type { JournalRow, ReportKind } from "../journal.ts";
import type { Json } from "../json.ts";
import { type ReplyPart, replyPartsOf, replyText } from "../message.ts";
import { replyEnters, salvagedWords } from "../reports/words.ts";
import { bodyRead, headRead, type RowHead } from "../row.ts";
import type { Run } from "../state.ts";
import { tagExtract } from "../text/index.ts";
import { type LastOutput, lastOutput } from "./last-output.ts";

/** Asks for the erasure, in the step that put the outcome into the parent's context. */
export function eraseIfAsked(d: Deciding, run: Run | undefined): void {
  if (run === undefined || !run.erase) return;
  const n = d.number();
  d.emit({ type: "erasure-asked", run: run.number, n });
  d.effect({ type: "erase-texts", key: d.key(n), attempt: 1, run: run.number });
}

interface ChildRow {
  readonly row: JournalRow;
  readonly salt: string;
  readonly texts: readonly Json[];
  readonly fact: Extract<Fact, { type: "model-replied" | "tool-finished" | "model-failed" }>;
  /** True for a reply that entered the child's context. */
  readonly spoken: boolean;
  readonly reports: readonly ReportOf[];
  /** Calls whose words went to other agents, in whose contexts they stand. */
  readonly sent: readonly string[];
  /** Texts that say why the run failed, or that other agents were given in the same step, by their index. */
  readonly errors: readonly TextIndex[];
}

type ReportOf = Extract<Fact, { type: "run-reported" }>;

/** The child's rows, and what of them counts for its result. */
interface ChildRows {
  readonly own: readonly ChildRow[];
  /** How many of them stand before its nudge; all of them without one. */
  readonly beforeNudge: number;
  /** The report that is the result. */
  readonly result: ReportOf | undefined;
}

/** The rows that hold the child's own words, with what is left of their bodies after the erasure. */
export function erasedBodies(
  run: RunNumber,
  kind: ReportKind,
  rows: readonly JournalRow[],
): { seq: number; body: string }[] {
  const child = childRows(run, rows);
  const kept = new Set(keptRows(kind, child));
  const output = kind === "missing" ? lastOutput(run, rows) : null;
  const report = kind === "tool" ? child.result?.call : undefined;
  return child.own.map((own) => ({
    seq: own.row.seq,
    body: JSON.stringify([own.salt, ...left(own, kind, { kept: kept.has(own), report }, output)]),
  }));
}

function childRows(run: RunNumber, rows: Iterable<JournalRow>): ChildRows {
  /** The child's effects; true for a call that asked for a summary. */
  const effects = new Map<StepKey, boolean>();
  const own: ChildRow[] = [];
  let nudged: number | null = null;
  let final = false;
  for (const row of rows) {
    const head = headRead(row.head);
    const events = head.late === undefined ? (head.events ?? []) : [];
    let nudgedHere = false;
    for (const event of events) {
      if (event.type === "run-ended" && event.run === run) final = event.final === true;
      if (event.type === "nudge-given" && event.agent === run && event.about === "report") nudgedHere = true;
      if ((event.type === "model-called" || event.type === "tool-called") && event.agent === run)
        effects.set(stepKey(row.seq, event.n), event.type === "model-called" && event.purpose !== undefined);
    }
    const child = childRow(run, row, head, events, effects);
    if (child !== null) own.push(child);
    if (nudgedHere) nudged = own.length;
  }
  const reports = own.flatMap((child) => child.reports);
  const result = reports.findLast((report) => !final || report.final === true);
  return { own, beforeNudge: nudged ?? own.length, result };
}

function childRow(
  run: RunNumber,
  row: JournalRow,
  head: RowHead,
  events: readonly Decided[],
  effects: ReadonlyMap<StepKey, boolean>,
): ChildRow | null {
  const fact = head.input;
  if (fact.type !== "model-replied" && fact.type !== "tool-finished" && fact.type !== "model-failed") return null;
  const summary = effects.get(fact.effect);
  if (summary === undefined) return null;
  const spoken = head.late === undefined && fact.type === "model-replied" && replyEnters(fact, summary);
  const reports = events.filter((event): event is ReportOf => event.type === "run-reported" && event.run === run);
  const sent = events.flatMap((event) =>
    event.type === "message-sent" && event.from === run && event.call !== undefined ? [event.call] : [],
  );
  const errors = events.flatMap((event) => {
    if (event.type === "run-ended") return event.error ?? [];
    if (event.type === "turn-ended" && event.agent !== run) return event.error ?? [];
    if (event.type === "tool-answered" && event.agent !== run) return event.text ?? [];
    return event.type === "run-report-refused" ? event.problem : [];
  });
  return { row, ...bodyRead(row.body), fact, spoken, reports, sent, errors };
}

/** The replies whose words stand in the parent's context: one, or two where the child was nudged and spoke again. */
function keptRows(kind: ReportKind, { own, beforeNudge, result }: ChildRows): readonly ChildRow[] {
  switch (kind) {
    case "tool":
      return result === undefined ? [] : own.filter((child) => child.reports.includes(result));
    case "tag":
      return own.filter((child) => child.spoken).slice(-1);
    case "salvaged": {
      const words = (child: ChildRow): boolean => child.spoken && salvagedWords(replyPartsOf(child.texts[0])) !== "";
      return [...own.slice(0, beforeNudge).filter(words).slice(-1), ...own.slice(beforeNudge).filter(words).slice(-1)];
    }
    case "missing":
      return [];
  }
}

/** Of a reply whose words are the result, just those words. */
function resultWords(kind: ReportKind, parts: readonly ReplyPart[]): string {
  if (kind !== "tag") return salvagedWords(parts);
  return `<response>${tagExtract(replyText(parts), "response") ?? ""}</response>`;
}

/** What other contexts are made of stays at its place: the words of the report, words to others, and why the run failed. */
function left(
  child: ChildRow,
  kind: ReportKind,
  { kept, report }: { readonly kept: boolean; readonly report: string | undefined },
  output: LastOutput | null,
): readonly Json[] {
  const texts: Json[] = [];
  if (child.fact.type === "model-replied") {
    const calls = new Set(kept && report !== undefined ? [...child.sent, report] : child.sent);
    const all = replyPartsOf(child.texts[0]);
    // An output is paired with its call: of that call the name stays.
    const paired = output?.reply === child.row.seq ? output.call : null;
    const parts = all.flatMap((part): ReplyPart[] => {
      if (part.type !== "tool-call") return [];
      if (calls.has(part.id)) return [part];
      return part.id === paired ? [{ ...part, input: null }] : [];
    });
    if (kept && kind !== "tool") parts.unshift({ type: "text", text: resultWords(kind, all) });
    if (parts.length > 0) texts.push(parts as unknown as Json);
  }
  for (const index of output?.seq === child.row.seq ? [output.index, ...child.errors] : child.errors) {
    while (texts.length < index) texts.push(null);
    texts[index] = child.texts[index] ?? null;
  }
  return texts;
}
