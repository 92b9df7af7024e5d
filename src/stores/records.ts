/**
 * Converts between rows of tables and records of the store, for every database. Only the cells differ (`CellFormat`).
 */

import type { Anchor, Blob, PostRecord, Snapshot, StoredRun, TreeRecord } from "../contracts/store.ts";
import type { Mail, OutboxMessage } from "../contracts/store-messages.ts";
import { asPostId, asStepKey, asTreeId, type TreeId } from "../core/values/ids.ts";
import type { JournalRow, RunPatch } from "../core/journal/journal.ts";
import { numberOf, optionalOf, type Row } from "./cells.ts";
import { cleanups, deliveryStates, reportKinds, runModes, runStates, runStatuses } from "./codes.ts";
import { treeKinds, treeStatuses } from "./codes.ts";
import { RUN_COLUMNS, type RunColumn } from "./run-columns.ts";

/** How a database writes and reads values that are not numbers. */
export interface CellFormat<Cell> {
  text(text: string): Cell;
  id(id: string): Cell;
  flag(flag: boolean): Cell;
  textOf(row: Row, column: string): string;
  idOf(row: Row, column: string): string;
  hashOf(row: Row, column: string): string;
  flagOf(row: Row, column: string): boolean;
}

export interface RunCell<Cell> {
  readonly name: string;
  readonly cell: Cell | number | null;
}

export interface Records<Cell> {
  /** The columns that a patch has, in the order of `RUN_COLUMNS`. */
  runCells(patch: RunPatch): readonly RunCell<Cell>[];
  runOf(row: Row): StoredRun;
  treeOf(row: Row): TreeRecord;
  treeIdOf(row: Row): TreeId;
  journalRowOf(row: Row): JournalRow;
  postOf(row: Row): PostRecord;
  mailOf(row: Row): Mail;
  blobOf(row: Row): Blob;
  snapshotOf(row: Row): Snapshot;
  outboxMessageOf(row: Row): OutboxMessage;
  anchorOf(row: Row): Anchor;
}

export function createRecords<Cell>(format: CellFormat<Cell>): Records<Cell> {
  const { textOf, idOf, hashOf, flagOf } = format;

  function cellOf(stored: RunColumn["stored"], value: string | number | boolean | null): Cell | number | null {
    if (value === null || typeof value === "number") return value;
    if (typeof value === "boolean") return format.flag(value);
    if (stored === "id") return format.id(value);
    return typeof stored === "string" ? format.text(value) : stored.cell(value);
  }

  return {
    runCells(patch) {
      const cells: RunCell<Cell>[] = [];
      for (const { field, name, stored } of RUN_COLUMNS) {
        const value = patch[field];
        if (value !== undefined) cells.push({ name, cell: cellOf(stored, value) });
      }
      return cells;
    },
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
    mailOf: (row) => ({
      tree: asTreeId(idOf(row, "tree")),
      id: asPostId(idOf(row, "id")),
      hash: hashOf(row, "hash"),
      payload: textOf(row, "payload"),
    }),
    blobOf: (row) => ({ hash: hashOf(row, "hash"), text: textOf(row, "text") }),
    anchorOf: (row) => ({
      at: numberOf(row, "at"),
      wall: numberOf(row, "wall"),
      monotonic: numberOf(row, "monotonic"),
      boot: textOf(row, "boot"),
    }),
    treeIdOf: (row) => asTreeId(idOf(row, "id")),
  };
}
