/** The whole result of an ended run, read from the journal: nothing is run again for it. */

import type { Store, StoredRun } from "../../contracts/store.ts";
import type { Json } from "../../core/json.ts";
import type { JournalRow } from "../../core/journal.ts";
import type { Artifact } from "../../core/context/report-texts.ts";
import { runTranscript, transcriptFindings, transcriptWhole } from "../../core/runs/run-transcript.ts";

const ROWS_AT_A_TIME = 500;

export interface RunResult {
  /** The run's own words, or what stands for them. */
  readonly findings: string;
  /** The findings with artifacts, data and earlier reports: all that the run left. */
  readonly whole: string;
  readonly artifacts: readonly Artifact[];
  readonly data: Json | undefined;
  /** Why it did not end well, in words; null where nothing more is known than its reason. */
  readonly error: string | null;
  /** Why the closing call of a run that had reported did not come to an end. */
  readonly closed: string | null;
}

const NOTHING: RunResult = { findings: "", whole: "", artifacts: [], data: undefined, error: null, closed: null };

export async function runResult(store: Store, run: StoredRun): Promise<RunResult> {
  const { report, status, reason } = run;
  if (report === null) return NOTHING;
  const transcript = runTranscript(run.number, await runRows(store, run));
  const ended = { report, status, reason };
  const told = report === "tool" ? transcript.report : null;
  return {
    findings: transcriptFindings(ended, transcript),
    whole: transcriptWhole(ended, transcript),
    artifacts: told?.artifacts ?? [],
    data: told?.data,
    error: transcript.error,
    closed: transcript.closed,
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
