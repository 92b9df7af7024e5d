/**
 * Proves a journal of a store or of a file, and says where the first difference is.
 *
 * Invariants:
 *  1. Nothing is written and nothing is called. The owner may write to the store meanwhile: new rows are proven too.
 *  2. A journal that is shorter than its tree's record says is broken, even if each of its rows is good.
 */

import type { Store, TreeRecord } from "../../contracts/store.ts";
import type { JournalRow } from "../../core/journal/journal.ts";
import { type ReplayDifference, type ReplayReport, replayVerdict } from "../../core/journal/replay.ts";
import { sha256 } from "../create-runtime.ts";
import { type FileProblem, readJournalFile } from "./journal-file.ts";
import { replayJournal } from "./replay-tree.ts";
import { storedRows } from "./stored-rows.ts";

export interface Proof {
  readonly tree: string;
  readonly agent: string;
  readonly report: ReplayReport;
  /** `proven`, `intact, …` or `broken at …`. */
  readonly verdict: string;
  readonly good: boolean;
  /** The line of the file that has the difference, or damage outside of rows. */
  readonly line: number | null;
  readonly damage: FileProblem | null;
}

/** Called with each row before it is proven. */
type OnRow = (row: JournalRow) => void;

export async function proveStored(store: Store, tree: TreeRecord, onRow: OnRow): Promise<Proof> {
  let end: JournalRow | null = null;
  const promised = tree.nextSeq - 1;
  const rows = watched(storedRows(store, tree.id), (row) => {
    if (row.seq === promised) end = row;
    onRow(row);
  });
  const replayed = await replayJournal({ rows, blob: (hash) => store.blob(tree.id, hash) }, sha256);
  const report = { ...replayed, difference: replayed.difference ?? endDifference(end, tree, replayed) };
  return { tree: tree.id, agent: tree.agent, report, ...judged(report, null), line: null, damage: null };
}

function endDifference(end: JournalRow | null, tree: TreeRecord, report: ReplayReport): ReplayDifference | null {
  const last = tree.nextSeq - 1;
  if (end === null)
    return { seq: report.rows + 1, what: "numbering", recorded: `ends at ${report.rows}`, expected: `ends at ${last}` };
  return end.hash === tree.hash ? null : { seq: last, what: "hash", recorded: end.hash, expected: tree.hash };
}

export async function proveFile(lines: AsyncIterable<string>, onRow: OnRow): Promise<Proof> {
  let line = 0;
  const lineOfRow: number[] = [];
  const counted = watched(lines, () => (line += 1));
  const file = await readJournalFile(counted, sha256);
  const rows = watched(file.rows, (row) => {
    lineOfRow[row.seq] ??= line;
    onRow(row);
  });
  const report = await replayJournal({ rows, blob: file.blob }, sha256);
  const damage = report.difference === null ? file.problem() : null;
  const at = report.difference === null ? (damage?.line ?? null) : (lineOfRow[report.difference.seq] ?? line);
  const { tree, agent } = file.header;
  return { tree, agent, report, ...judged(report, damage), line: at, damage };
}

function judged(report: ReplayReport, damage: FileProblem | null): Pick<Proof, "verdict" | "good"> {
  if (damage === null) return { verdict: replayVerdict(report), good: report.difference === null };
  return { verdict: `broken at line ${damage.line}: ${damage.problem}`, good: false };
}

async function* watched<Item>(
  items: AsyncIterable<Item> | Iterable<Item>,
  each: (item: Item) => void,
): AsyncGenerator<Item> {
  for await (const item of items) {
    each(item);
    yield item;
  }
}
