/**
 * Checked reads of a store from an unknown source: ids are UUIDs, numbers are integers of a possible size, and a
 * run is below an earlier one. Anything else is `store-corrupt`. The content of journal rows is checked where it is
 * read.
 */

import type { Store, StoredRun, TreeRecord } from "../../contracts/store.ts";
import { uuidIs } from "../../core/values/ids.ts";
import { ErrandError } from "../../errors.ts";

/** The last millisecond that a date can have. */
const LAST_TIME = 8.64e15;

export function checkedRecords(store: Store): Store {
  return {
    ...store,
    tree: async (id) => optional(await store.tree(id), checkedTree),
    trees: async (query) => (await store.trees(query)).map(checkedTree),
    unfinished: async (at) => (await store.unfinished(at)).map(checkedId),
    due: async (at) => (await store.due(at)).map(checkedId),
    outboxTrees: async () => (await store.outboxTrees()).map(checkedId),
    run: async (id) => optional(await store.run(id), checkedRun),
    runOfAgent: async (agent) => optional(await store.runOfAgent(agent), checkedRun),
    runs: async (query) => (await store.runs(query)).map(checkedRun),
    async pendingMail(limit) {
      const mail = await store.pendingMail(limit);
      for (const { tree } of mail) checkedId(tree);
      return mail;
    },
    async rows(tree, from, limit) {
      const rows = await store.rows(tree, from, limit);
      for (const { seq } of rows) requireCount("seq", seq, 1);
      return rows;
    },
    async anchor() {
      const anchor = await store.anchor();
      for (const time of ["at", "wall", "monotonic"] as const) requireTime(time, anchor?.[time] ?? null);
      return anchor;
    },
  };
}

function optional<Value>(value: Value | null, check: (value: Value) => Value): Value | null {
  return value === null ? null : check(value);
}

function checkedId<Id extends string>(id: Id): Id {
  if (!uuidIs(id)) throw corrupt("an id that is not a UUID");
  return id;
}

function checkedTree(tree: TreeRecord): TreeRecord {
  checkedId(tree.id);
  requireCount("next_seq", tree.nextSeq, 1);
  for (const count of ["epoch", "questions", "format", "failures"] as const) requireCount(count, tree[count], 0);
  for (const time of ["wakeAt", "createdAt", "updatedAt"] as const) requireTime(time, tree[time]);
  return tree;
}

function checkedRun(run: StoredRun): StoredRun {
  for (const id of [run.tree, run.id, run.agent]) checkedId(id);
  requireCount("number", run.number, 1);
  for (const count of ["parent", "tokens", "cost", "createdSeq"] as const) requireCount(count, run[count], 0);
  if (run.parent >= run.number) throw corrupt("a run that is not below an earlier one");
  if (run.endedSeq !== null) requireCount("endedSeq", run.endedSeq, 0);
  for (const time of ["createdAt", "startedAt", "endedAt", "deadline"] as const) requireTime(time, run[time]);
  return run;
}

function requireCount(name: string, value: number, least: number): void {
  if (!Number.isSafeInteger(value) || value < least) throw corrupt(`an impossible number in ${name}`);
}

function requireTime(name: string, value: number | null): void {
  if (value !== null && !(Math.abs(value) <= LAST_TIME)) throw corrupt(`an impossible time in ${name}`);
}

function corrupt(what: string): ErrandError {
  return new ErrandError("store-corrupt", `The store contains ${what}.`, {
    remedy: "It is not trusted, and something other than Errand changed it: do not use it.",
  });
}
