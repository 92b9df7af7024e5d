/**
 * Run patches: which columns a run has, and whether a patch holds all of them.
 */

import type { TreeId } from "../core/values/ids.ts";
import type { RunPatch, RunRecord } from "../core/journal/journal.ts";
import { patchedRunUnknown } from "./refusals.ts";

/** Every column of a run; the type makes the list complete. */
const RUN_FIELDS: Readonly<Record<keyof RunRecord, true>> = {
  number: true,
  id: true,
  agent: true,
  parent: true,
  mode: true,
  definition: true,
  name: true,
  state: true,
  status: true,
  reason: true,
  report: true,
  nudged: true,
  delivery: true,
  undeliverable: true,
  group: true,
  cleanup: true,
  createdAt: true,
  startedAt: true,
  endedAt: true,
  deadline: true,
  tokens: true,
  cost: true,
  createdSeq: true,
  endedSeq: true,
};

/** True for a patch that can make a run, because it holds every column. */
export function patchIsWhole(patch: RunPatch): patch is RunRecord {
  for (const field in RUN_FIELDS) {
    if (!Object.hasOwn(patch, field)) return false;
  }
  return true;
}

/** The run that a patch makes; a patch that lacks a column changes a run, and there is none. */
export function madeRun(tree: TreeId, patch: RunPatch): RunRecord {
  if (!patchIsWhole(patch)) throw patchedRunUnknown(tree, patch.number);
  return patch;
}
