/**
 * Literal unions that databases store as small integers. Stored data contains these codes: add to them, never change
 * one.
 */

import type { TreeRecord, TreeStatus } from "../contracts/store.ts";
import type { DeliveryState, ReportKind, RunMode, RunState, RunStatus } from "../core/journal/journal.ts";
import { cellCorrupt, numberOf, type Row } from "./cells.ts";

export interface Codes<Name extends string> {
  cell(name: Name): number;
  of(row: Row, column: string): Name;
}

export function codes<Name extends string>(numbers: Readonly<Record<Name, number>>): Codes<Name> {
  const names = new Map<number, Name>();
  for (const name in numbers) names.set(numbers[name], name);
  return {
    cell: (name) => numbers[name],
    of(row, column) {
      const name = names.get(numberOf(row, column));
      if (name === undefined) throw cellCorrupt(row, column);
      return name;
    },
  };
}

export const treeKinds = codes<TreeRecord["kind"]>({ foreground: 0, background: 1, host: 2 });
export const treeStatuses = codes<TreeStatus>({ open: 0, closed: 1, quarantined: 2, expired: 3, arriving: 4 });
export const runModes = codes<RunMode>({ awaited: 0, background: 1 });
export const runStates = codes<RunState>({ queued: 0, running: 1, waiting: 2, needs_input: 3, ended: 4 });
export const runStatuses = codes<RunStatus>({ ok: 0, error: 1, timeout: 2, cancelled: 3, interrupted: 4 });
export const reportKinds = codes<ReportKind>({ tool: 0, tag: 1, salvaged: 2, missing: 3 });
export const deliveryStates = codes<DeliveryState>({ open: 0, pending: 1, placed: 2, undeliverable: 3, returned: 4 });
export const cleanups = codes<"keep" | "delete">({ keep: 0, delete: 1 });
