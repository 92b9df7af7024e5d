/** The whole result of an ended run, read from the journal: nothing is run again for it. */

import type { Store, StoredRun } from "../../contracts/store.ts";
import type { Json } from "../../core/json.ts";
import type { JournalRow } from "../../core/journal.ts";
import { runTranscript, transcriptFindings } from "../../core/runs/run-transcript.ts";

const ROWS_AT_A_TIME = 500;

export interface RunResult {
  readonly findings: string;
  readonly artifacts: Json;
  readonly data: Json | undefined;
}

export async function runResult(store: Store, run: StoredRun): Promise<RunResult> {
  const { report, status, reason } = run;
  if (report === null) return { findings: "", artifacts: [], data: undefined };
  const transcript = runTranscript(run.number, await runRows(store, run));
  const last = report === "tool" ? transcript.reports.at(-1) : undefined;
  return {
    findings: transcriptFindings({ report, status, reason }, transcript),
    artifacts: last?.artifacts ?? [],
    data: last?.data,
  };
}

/** The rows of the tree between the run's creation and its end. */
export async function runRows(store: Store, run: StoredRun): Promise<JournalRow[]> {
  const rows: JournalRow[] = [];
  const end = run.endedSeq ?? 0;
  for (let from = run.createdSeq; from <= end;) {
    const page = await store.rows(run.tree, from, Math.min(ROWS_AT_A_TIME, end - from + 1));
    const last = page.at(-1);
    if (last === undefined) break;
    rows.push(...page);
    from = last.seq + 1;
  }
  return rows;
}
