/**
 * Replay: proves a journal without a model, a tool or a network. It always checks numbering, hash chain, bodies and fold; where a row was
 * made by this revision and its texts are still there, it decides again and builds the contexts again, and compares every byte.
 *
 * Invariants:
 *  1. It trusts nothing it reads: a damaged row is a difference with its place, never an exception.
 *  2. A row that cannot be decided again is folded, so that what follows it can still be checked.
 */

import { bodyRead, type HeadGiven, headGivenRead, headRead } from "./row.ts";
import { ROW_REVISION } from "./revision.ts";
import type { Decided, ErasedRow, Input } from "./event.ts";
import type { JournalRow, Sha256 } from "./journal.ts";
import { type Stepped, type Tree, treeFold, treeNew, type TreeSource, treeStep } from "./tree.ts";
import type { Json } from "./json.ts";

/** The first place where the journal is not what it should be. */
export interface ReplayDifference {
  readonly seq: number;
  readonly what: "numbering" | "hash" | "body" | "unreadable" | "decision";
  readonly recorded: string;
  readonly expected: string;
}

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
  /** Takes the next row, with its head where it was read already; false once a difference was found. */
  take(row: JournalRow, head?: HeadGiven): boolean;
  report(): ReplayReport;
  readonly tree: Tree;
}

/**
 * A replay that is fed row by row, so that a journal of any length is proven in bounded memory. `onDecided` is shown every step that was
 * decided again.
 */
export function replayBegin(source: TreeSource, onDecided: (stepped: Stepped) => void = () => {}): Replay {
  const hashes = rowHashes(source.sha256);
  const tree = treeNew({ ...source, sha256: hashes.again });
  const erased: number[] = [];
  const foreign = new Set<string>();
  let difference: ReplayDifference | null = null;
  let rows = 0;
  let facts = 0;
  let decided = 0;
  let agents = 0;
  const unsettled = new Map<number, { readonly found: string | null; readonly promised: string | null }>();

  function check(row: JournalRow, given: HeadGiven | undefined): ReplayDifference | null {
    const seq = tree.state.seq + 1;
    if (row.seq !== seq) return { seq, what: "numbering", recorded: String(row.seq), expected: String(seq) };
    const hash = hashes.ofHead(tree.hash + row.head);
    if (hash !== row.hash) return { seq, what: "hash", recorded: row.hash, expected: hash };
    const head = given ?? headGivenRead(row.head);
    for (const { seq: gone, hash: left } of erasedRows(head.input)) settle(gone, left);
    const found = row.body === null ? null : hashes.ofBody(row.body);
    if (found !== (head.body ?? null)) {
      unsettled.set(seq, { found, promised: head.body ?? null });
      erased.push(seq);
      fold(row);
      return null;
    }
    return redo(row, head);
  }

  function count(events: readonly Decided[]): void {
    facts += 1;
    for (const { type } of events) {
      facts += 1;
      if (type === "run-created") agents += 1;
    }
  }

  function fold(row: JournalRow): void {
    count(headRead(row.head).events ?? []);
    treeFold(tree, row);
  }

  /** A recorded erasure says what is left of a body; then it is as it should be. */
  function settle(seq: number, left: string | null): void {
    if (unsettled.get(seq)?.found === left) unsettled.delete(seq);
  }

  function redo(row: JournalRow, head: HeadGiven): ReplayDifference | null {
    if (head.rev !== ROW_REVISION) {
      foreign.add(head.rev);
      fold(row);
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
    const stepped = treeStep(tree, step, salt);
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

  /** A body that is not what its head promises, and that no erasure explains. */
  function unexplained(): ReplayDifference | null {
    for (const [seq, { found, promised }] of unsettled) {
      return { seq, what: "body", recorded: found ?? "(none)", expected: promised ?? "(none)" };
    }
    return null;
  }

  return {
    tree,
    take(row, head) {
      if (difference !== null) return false;
      rows += 1;
      try {
        difference = check(row, head);
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
      difference: difference ?? unexplained(),
    }),
  };
}

/** Rows of which the input says that texts of theirs are gone. */
export function erasedRows(input: Input): readonly ErasedRow[] {
  if (input.type === "texts-erased") return input.rows;
  return input.type === "tree-forked" ? (input.erased ?? []) : [];
}

interface RowHashes {
  readonly ofHead: Sha256;
  readonly ofBody: Sha256;
  /** Any hash; those of the row's own head and body are known by now, and are what most rows ask for. */
  readonly again: Sha256;
}

/** A row that is decided again comes out as it was, so that its two hashes are asked for twice: they are taken once. */
function rowHashes(sha256: Sha256): RowHashes {
  const hashed = (text: string) => ({ text, hash: sha256(text) });
  let head = hashed("");
  let body = head;
  return {
    ofHead: (text) => (head = hashed(text)).hash,
    ofBody: (text) => (body = hashed(text)).hash,
    again(text) {
      if (text === head.text) return head.hash;
      return text === body.text ? body.hash : sha256(text);
    },
  };
}

/** An agent whose texts were erased cannot have its contexts built again; everything else of a row still counts. */
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
