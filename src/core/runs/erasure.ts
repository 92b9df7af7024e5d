/**
 * `cleanup: "delete"`: once a run's outcome is in its parent's context, the child's texts are erased, but for what that context is made of.
 *
 * Invariants:
 *  1. Heads stay, so the chain and every decision stay provable; the erasure records what is left of each body.
 *  2. Folding the rows after the erasure gives the parent's context as before, byte for byte.
 */

import type { Deciding } from "../deciding.ts";
import type { Fact } from "../event.ts";
import { type RunNumber, stepKey, type StepKey } from "../ids.ts";
import type { JournalRow, ReportKind } from "../journal.ts";
import type { Json } from "../json.ts";
import { replyPartsOf, replyText } from "../message.ts";
import { bodyRead, headRead } from "../row.ts";
import type { Run } from "../state.ts";
import { salvageText } from "../text/index.ts";

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
  readonly reports: readonly string[];
}

/** The rows that hold the child's own words, with what is left of their bodies after the erasure. */
export function erasedBodies(
  run: RunNumber,
  kind: ReportKind,
  rows: Iterable<JournalRow>,
): { seq: number; body: string }[] {
  const own = childRows(run, rows);
  const kept = keptRow(kind, own);
  return own.map((child) => ({
    seq: child.row.seq,
    body: JSON.stringify([child.salt, ...left(child, kind, child === kept)]),
  }));
}

function childRows(run: RunNumber, rows: Iterable<JournalRow>): ChildRow[] {
  const effects = new Set<StepKey>();
  const own: ChildRow[] = [];
  for (const row of rows) {
    const head = headRead(row.head);
    const fact = head.input;
    const events = head.late === undefined ? (head.events ?? []) : [];
    for (const event of events) {
      if ((event.type === "model-called" || event.type === "tool-called") && event.agent === run)
        effects.add(stepKey(row.seq, event.n));
    }
    if (fact.type !== "model-replied" && fact.type !== "tool-finished" && fact.type !== "model-failed") continue;
    if (!effects.has(fact.effect)) continue;
    const reports = events.flatMap((event) => (event.type === "run-reported" && event.run === run ? [event.call] : []));
    own.push({ row, ...bodyRead(row.body), fact, reports });
  }
  return own;
}

/** The one row whose words stand in the parent's context. */
function keptRow(kind: ReportKind, own: readonly ChildRow[]): ChildRow | undefined {
  switch (kind) {
    case "tool":
      return own.findLast((child) => child.reports.length > 0);
    case "tag":
      return own.findLast((child) => child.fact.type === "model-replied");
    case "salvaged":
      return own.findLast(
        (child) => child.fact.type === "model-replied" && salvageText(replyText(replyPartsOf(child.texts[0]))) !== "",
      );
    case "missing":
      return own.findLast(
        (child) =>
          child.fact.type === "tool-finished" && typeof child.texts[0] === "string" && child.texts[0].trim() !== "",
      );
  }
}

function left(child: ChildRow, kind: ReportKind, kept: boolean): readonly Json[] {
  if (!kept) return [];
  if (kind === "missing") return [child.texts[0] ?? null];
  const last = child.reports.at(-1);
  const parts = replyPartsOf(child.texts[0]).filter((part) =>
    kind === "tool" ? part.type === "tool-call" && part.id === last : part.type === "text",
  );
  return [parts as unknown as Json];
}
