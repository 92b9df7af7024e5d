/**
 * Columns of the tables, and the records that their rows are read into: the same in every database, each of which has cells of its
 * own kind (`createColumns`).
 *
 * Invariant: the codes below stand in stored data; they are added to, never changed. The schemas name two of them.
 */

import type { OutboxMessage, PostRecord, Snapshot, StoredRun, TreeRecord, TreeStatus } from "../contracts/store.ts";
import { asPostId, asStepKey, asTreeId } from "../core/values/ids.ts";
import type {
  DeliveryState,
  JournalRow,
  ReportKind,
  RunMode,
  RunPatch,
  RunState,
  RunStatus,
} from "../core/journal/journal.ts";
import { codes, numberOf, optionalOf, type Row } from "./cells.ts";

export const treeKinds = codes<TreeRecord["kind"]>({ foreground: 0, background: 1, host: 2 });
export const treeStatuses = codes<TreeStatus>({ open: 0, closed: 1, quarantined: 2, expired: 3, arriving: 4 });
const runModes = codes<RunMode>({ awaited: 0, background: 1 });
export const runStates = codes<RunState>({ queued: 0, running: 1, waiting: 2, needs_input: 3, ended: 4 });
const runStatuses = codes<RunStatus>({ ok: 0, error: 1, timeout: 2, cancelled: 3, interrupted: 4 });
const reportKinds = codes<ReportKind>({ tool: 0, tag: 1, salvaged: 2, missing: 3 });
const deliveryStates = codes<DeliveryState>({ open: 0, pending: 1, placed: 2, undeliverable: 3, returned: 4 });
const cleanups = codes<"keep" | "delete">({ keep: 0, delete: 1 });

/** How a database writes and reads what is not a number. */
export interface CellKinds<Cell> {
  text(text: string): Cell;
  id(id: string): Cell;
  flag(flag: boolean): Cell;
  textOf(row: Row, column: string): string;
  idOf(row: Row, column: string): string;
  hashOf(row: Row, column: string): string;
  flagOf(row: Row, column: string): boolean;
}

export interface RunColumn<Cell> {
  readonly name: string;
  readonly field: keyof RunPatch;
  /** The column's cell, or undefined when the patch leaves the column as it is. */
  cell(patch: RunPatch): Cell | number | null | undefined;
}

export interface Columns<Cell> {
  /** The columns of `runs` after its tree, in the order of the table. The column `group` is `batch` there: the word is SQL's. */
  readonly runColumns: readonly RunColumn<Cell>[];
  runOf(row: Row): StoredRun;
  treeOf(row: Row): TreeRecord;
  journalRowOf(row: Row): JournalRow;
  postOf(row: Row): PostRecord;
  snapshotOf(row: Row): Snapshot;
  outboxMessageOf(row: Row): OutboxMessage;
}

export function createColumns<Cell>(cells: CellKinds<Cell>): Columns<Cell> {
  const { textOf, idOf, hashOf, flagOf } = cells;

  /** `read` names the field itself, because a field that is looked up by its name is found slowly where there are many. */
  function column<Value>(
    name: string,
    field: keyof RunPatch,
    read: (patch: RunPatch) => Value | undefined,
    write: (value: Value) => Cell | number | null,
  ): RunColumn<Cell> {
    return {
      name,
      field,
      cell(patch) {
        const value = read(patch);
        return value === undefined ? undefined : write(value);
      },
    };
  }

  const same = (value: number | null): number | null => value;
  const maybe =
    <Value>(write: (value: Value) => Cell | number | null) =>
    (value: Value | null): Cell | number | null =>
      value === null ? null : write(value);

  const runColumns = [
    column("number", "number", ({ number }) => number, same),
    column("id", "id", ({ id }) => id, cells.id),
    column("agent", "agent", ({ agent }) => agent, cells.id),
    column("parent", "parent", ({ parent }) => parent, same),
    column("mode", "mode", ({ mode }) => mode, runModes.cell),
    column("definition", "definition", ({ definition }) => definition, cells.text),
    column("name", "name", ({ name }) => name, cells.text),
    column("state", "state", ({ state }) => state, runStates.cell),
    column("status", "status", ({ status }) => status, maybe(runStatuses.cell)),
    column("reason", "reason", ({ reason }) => reason, maybe(cells.text)),
    column("report", "report", ({ report }) => report, maybe(reportKinds.cell)),
    column("nudged", "nudged", ({ nudged }) => nudged, cells.flag),
    column("delivery", "delivery", ({ delivery }) => delivery, deliveryStates.cell),
    column("undeliverable", "undeliverable", ({ undeliverable }) => undeliverable, maybe(cells.text)),
    column("batch", "group", ({ group }) => group, maybe(cells.text)),
    column("cleanup", "cleanup", ({ cleanup }) => cleanup, cleanups.cell),
    column("created_at", "createdAt", ({ createdAt }) => createdAt, same),
    column("started_at", "startedAt", ({ startedAt }) => startedAt, same),
    column("ended_at", "endedAt", ({ endedAt }) => endedAt, same),
    column("deadline", "deadline", ({ deadline }) => deadline, same),
    column("tokens", "tokens", ({ tokens }) => tokens, same),
    column("cost", "cost", ({ cost }) => cost, same),
    column("created_seq", "createdSeq", ({ createdSeq }) => createdSeq, same),
    column("ended_seq", "endedSeq", ({ endedSeq }) => endedSeq, same),
  ];

  return {
    runColumns,
    runOf: (row) => ({
      tree: asTreeId(idOf(row, "tree_id")),
      number: numberOf(row, "number"),
      id: idOf(row, "id"),
      agent: idOf(row, "agent"),
      parent: numberOf(row, "parent"),
      mode: runModes.of(row, "mode"),
      definition: textOf(row, "definition"),
      name: textOf(row, "name"),
      state: runStates.of(row, "state"),
      status: optionalOf(row, "status", runStatuses.of),
      reason: optionalOf(row, "reason", textOf),
      report: optionalOf(row, "report", reportKinds.of),
      nudged: flagOf(row, "nudged"),
      delivery: deliveryStates.of(row, "delivery"),
      undeliverable: optionalOf(row, "undeliverable", textOf),
      group: optionalOf(row, "batch", textOf),
      cleanup: cleanups.of(row, "cleanup"),
      createdAt: numberOf(row, "created_at"),
      startedAt: optionalOf(row, "started_at", numberOf),
      endedAt: optionalOf(row, "ended_at", numberOf),
      deadline: optionalOf(row, "deadline", numberOf),
      tokens: numberOf(row, "tokens"),
      cost: numberOf(row, "cost"),
      createdSeq: numberOf(row, "created_seq"),
      endedSeq: optionalOf(row, "ended_seq", numberOf),
    }),
    treeOf: (row) => ({
      id: asTreeId(idOf(row, "id")),
      agent: textOf(row, "agent"),
      kind: treeKinds.of(row, "kind"),
      status: treeStatuses.of(row, "status"),
      epoch: numberOf(row, "epoch"),
      nextSeq: numberOf(row, "next_seq"),
      hash: hashOf(row, "hash"),
      wakeAt: optionalOf(row, "wake_at", numberOf),
      busy: flagOf(row, "busy"),
      questions: numberOf(row, "questions"),
      format: numberOf(row, "format"),
      failures: numberOf(row, "failures"),
      unplaced: optionalOf(row, "unplaced", textOf),
      createdAt: numberOf(row, "created_at"),
      updatedAt: numberOf(row, "updated_at"),
    }),
    journalRowOf: (row) => ({
      seq: numberOf(row, "seq"),
      head: textOf(row, "head"),
      body: optionalOf(row, "body", textOf),
      hash: hashOf(row, "hash"),
    }),
    postOf: (row) => ({
      id: asPostId(idOf(row, "id")),
      hash: hashOf(row, "hash"),
      seq: numberOf(row, "seq"),
      endedSeq: optionalOf(row, "ended_seq", numberOf),
    }),
    snapshotOf: (row) => ({
      seq: numberOf(row, "seq"),
      revision: textOf(row, "revision"),
      text: textOf(row, "text"),
    }),
    outboxMessageOf: (row) => ({
      key: asStepKey(textOf(row, "key")),
      agent: numberOf(row, "agent"),
      text: textOf(row, "text"),
      at: numberOf(row, "at"),
    }),
  };
}
