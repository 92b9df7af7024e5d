/**
 * Replay: proves a journal without a model, a tool or a network. It always checks numbering, hash chain, bodies and
 * fold. If a row was made by this revision and has its texts, replay decides it again, builds the contexts again, and
 * compares every byte.
 *
 * Invariants:
 *  1. A damaged row is a difference with its place, never an exception.
 *  2. A row that cannot be decided again is folded, so that the rows after it can still be checked.
 */

import { bodyRead, headRead, type RowHead } from "./row.ts";
import { ROW_REVISION } from "./revision.ts";
import type { Decided, Input } from "../event.ts";
import type { ErasedRow } from "../input.ts";
import type { JournalRow } from "./journal.ts";
import { type RecordedTexts, type Stepped, type Tree, treeFold, treeNew, type TreeSource, treeStep } from "../tree.ts";
import type { Json } from "../values/json.ts";

/** The first place where the journal is not what it should be. */
export interface ReplayDifference {
  readonly seq: number;
  readonly what: "numbering" | "hash" | "body" | "unreadable" | "decision";
  readonly recorded: string;
  readonly expected: string;
}

/** What replay found in a journal. */
export interface ReplayReport {
  readonly rows: number;
  readonly facts: number;
  readonly agents: number;
  /** Rows that were decided again. */
  readonly decided: number;
  /** Sequences of rows whose texts were erased. */
  readonly erased: readonly number[];
  /** Revisions of rows that were folded but not decided again. */
  readonly foreign: readonly string[];
  readonly difference: ReplayDifference | null;
}

export interface Replay {
  /** Takes the next row; false once a difference was found. */
  take(row: JournalRow): boolean;
  report(): ReplayReport;
  readonly tree: Tree;
}

/**
 * A replay that takes row by row, so that its memory does not grow with the journal. `onDecided` gets each step that
 * was decided again.
 */
export function replayBegin(source: TreeSource, onDecided: (stepped: Stepped) => void = () => {}): Replay {
  const { sha256 } = source;
  const tree = treeNew(source);
  const erased: number[] = [];
  const foreign = new Set<string>();
  let difference: ReplayDifference | null = null;
  let rows = 0;
  let facts = 0;
  let decided = 0;
  let agents = 0;
  /** Bodies that differ from the hash in their head, and that no recorded erasure explains yet. */
  const damaged = new Map<number, { readonly found: string | null; readonly promised: string | null }>();

  function check(row: JournalRow): ReplayDifference | null {
    const seq = tree.state.seq + 1;
    if (row.seq !== seq) return { seq, what: "numbering", recorded: String(row.seq), expected: String(seq) };
    const hash = sha256(tree.hash + row.head);
    if (hash !== row.hash) return { seq, what: "hash", recorded: row.hash, expected: hash };
    const head = headRead(row.head);
    for (const { seq: gone, hash: left } of erasedRows(head.input))
      if (damaged.get(gone)?.found === left) damaged.delete(gone);
    const found = row.body === null ? null : sha256(row.body);
    if (found !== (head.body ?? null)) {
      damaged.set(seq, { found, promised: head.body ?? null });
      erased.push(seq);
      fold(row, head);
      return null;
    }
    return decideAgain(row, head);
  }

  function count(events: readonly Decided[]): void {
    facts += 1;
    for (const { type } of events) {
      facts += 1;
      if (type === "run-created") agents += 1;
    }
  }

  function fold(row: JournalRow, { events = [] }: RowHead): void {
    count(events);
    treeFold(tree, row);
  }

  function decideAgain(row: JournalRow, head: RowHead): ReplayDifference | null {
    if (head.rev !== ROW_REVISION) {
      foreign.add(head.rev);
      fold(row, head);
      return null;
    }
    const { salt, texts } = bodyRead(row.body);
    const step = {
      at: head.at,
      seed: head.seed ?? "",
      slots: head.slots ?? 0,
      input: head.input,
      texts: texts.slice(0, head.texts ?? 0) as readonly Json[],
    };
    // Ends and answers that were made of erased texts cannot be made again: the recorded ones are used.
    const stepped = treeStep(tree, step, salt, erased.length === 0 ? undefined : recordedTexts(head, texts));
    const again = stepped.row;
    count(stepped.decision.events);
    onDecided(stepped);
    tree.hash = row.hash;
    if (erased.length > 0 && again.head !== row.head && withoutContexts(again.head) === withoutContexts(row.head))
      return null;
    decided += 1;
    if (again.head !== row.head) return { seq: row.seq, what: "decision", recorded: row.head, expected: again.head };
    if (again.body !== row.body) {
      return { seq: row.seq, what: "decision", recorded: row.body ?? "(none)", expected: again.body ?? "(none)" };
    }
    return null;
  }

  function firstDamaged(): ReplayDifference | null {
    for (const [seq, { found, promised }] of damaged)
      return { seq, what: "body", recorded: found ?? "(none)", expected: promised ?? "(none)" };
    return null;
  }

  return {
    tree,
    take(row) {
      if (difference !== null) return false;
      rows += 1;
      try {
        difference = check(row);
      } catch (error) {
        const expected = error instanceof Error ? error.message : "a readable row";
        difference = { seq: row.seq, what: "unreadable", recorded: row.head, expected };
      }
      return difference === null;
    },
    report: () => ({
      rows,
      facts,
      agents: agents + Math.min(1, rows),
      decided,
      erased,
      foreign: [...foreign],
      difference: difference ?? firstDamaged(),
    }),
  };
}

/** Rows whose texts are gone, as the input records. */
export function erasedRows(input: Input): readonly ErasedRow[] {
  if (input.type === "texts-erased") return input.rows;
  return input.type === "tree-forked" ? (input.erased ?? []) : [];
}

/** The ends and answers that this row recorded. */
function recordedTexts({ events = [] }: RowHead, texts: readonly Json[]): RecordedTexts {
  const textAt = (index: number | undefined): string | null => {
    const text = index === undefined ? null : texts[index];
    return typeof text === "string" ? text : null;
  };
  return {
    endTexts(run) {
      const ended = events.find((event) => event.type === "run-ended" && event.run === run);
      if (ended?.type !== "run-ended") return undefined;
      const result = ended.result === undefined ? null : (texts[ended.result] ?? null);
      return { kind: ended.report, result, error: textAt(ended.error) };
    },
    reportText(child) {
      const ended = events.find((event) => event.type === "turn-ended" && event.agent === child);
      return ended?.type === "turn-ended" ? (textAt(ended.answer) ?? undefined) : undefined;
    },
  };
}

/** The contexts of an agent whose texts were erased cannot be built again. The rest of the row is compared. */
function withoutContexts(head: string): string {
  return JSON.stringify({ ...headRead(head), contexts: [] });
}

/** The verdict in words. */
export function replayVerdict(report: ReplayReport): string {
  if (report.difference !== null) return `broken at row ${report.difference.seq} (${report.difference.what})`;
  if (report.foreign.length > 0) return `intact, decided by revision ${report.foreign.join(", ")}, not re-decided`;
  if (report.erased.length > 0) return `intact, ${report.erased.length} rows without their texts, not re-decided there`;
  return "proven";
}
