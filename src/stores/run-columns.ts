/** The columns of the table `runs`, the same in every database, and patches of them. */

import type { TreeId } from "../core/values/ids.ts";
import type { RunPatch, RunRecord } from "../core/journal/journal.ts";
import { cleanups, type Codes, deliveryStates, reportKinds, runModes, runStates, runStatuses } from "./codes.ts";
import { patchedRunUnknown } from "./refusals.ts";

/** How a field is stored. `Codes` are numbers too. */
type Stored = "number" | "id" | "text" | "flag" | Codes<string>;

export interface RunColumn {
  readonly field: keyof RunRecord;
  readonly name: string;
  readonly stored: Stored;
}

/** `group` is a word of SQL, so its column is `batch`. The type makes sure that no field is missing. */
const COLUMN_OF_FIELD: Readonly<Record<keyof RunRecord, readonly [name: string, stored: Stored]>> = {
  number: ["number", "number"],
  id: ["id", "id"],
  agent: ["agent", "id"],
  parent: ["parent", "number"],
  mode: ["mode", runModes],
  definition: ["definition", "text"],
  name: ["name", "text"],
  state: ["state", runStates],
  status: ["status", runStatuses],
  reason: ["reason", "text"],
  report: ["report", reportKinds],
  nudged: ["nudged", "flag"],
  delivery: ["delivery", deliveryStates],
  undeliverable: ["undeliverable", "text"],
  group: ["batch", "text"],
  cleanup: ["cleanup", cleanups],
  createdAt: ["created_at", "number"],
  startedAt: ["started_at", "number"],
  endedAt: ["ended_at", "number"],
  deadline: ["deadline", "number"],
  tokens: ["tokens", "number"],
  cost: ["cost", "number"],
  createdSeq: ["created_seq", "number"],
  endedSeq: ["ended_seq", "number"],
};

export const RUN_COLUMNS: readonly RunColumn[] = listOf(COLUMN_OF_FIELD);

function listOf<Field extends keyof RunRecord>(
  columns: Readonly<Record<Field, readonly [name: string, stored: Stored]>>,
): RunColumn[] {
  const list: RunColumn[] = [];
  for (const field in columns) {
    const [name, stored] = columns[field];
    list.push({ field, name, stored });
  }
  return list;
}

/** True for a patch that can create a run, because it has every column. */
export function patchIsWhole(patch: RunPatch): patch is RunRecord {
  return RUN_COLUMNS.every(({ field }) => Object.hasOwn(patch, field));
}

/** The run that a patch creates. A patch that lacks a column can only change a run that exists. */
export function createdRun(tree: TreeId, patch: RunPatch): RunRecord {
  if (!patchIsWhole(patch)) throw patchedRunUnknown(tree, patch.number);
  return patch;
}
