/** The checkers at rest, of readers and of replay fail for changed trees and stores. */

import { expect, test } from "vitest";
import { asTreeId } from "../../src/core/values/ids.ts";
import type { JournalRow } from "../../src/core/journal/journal.ts";
import { headRead } from "../../src/core/journal/row.ts";
import { definitionHashes } from "../../src/runtime/journals/stored-rows.ts";
import { treeEventOf } from "../../src/view/tree-event.ts";
import { createMemoryStore } from "../../src/stores/memory/memory-store.ts";
import {
  checkAgentsAtRest,
  checkDeadline,
  checkRunAtRest,
  checkStoreAtRest,
  checkStoredJournal,
} from "./invariants/at-rest.ts";
import { sha256 } from "./invariants/chain.ts";
import { createProvenJournal, type ProvenJournal } from "./invariants/proven-journal.ts";
import { checkEvent, checkSeen, checkStillThere } from "./invariants/reading.ts";
import type { WatchedRun, WatchedTree } from "./invariants/watched-tree.ts";
import { type Disk, memoryDisk } from "./place.ts";
import { simulate } from "./simulation.ts";
import { smallRows, smallSteps, watchRows } from "./small-journal.ts";
import { violated } from "./invariants/violation.ts";

test("I2, I4, I6, I10, I16, I22: the checker finds open, undelivered and overdue runs at rest", async () => {
  const tree = watchRows(smallRows(smallSteps()));
  const run = tree.runs.get(1) as WatchedRun;
  expect(violated(() => checkRunAtRest(run))).toBe("nothing");
  expect(violated(() => checkRunAtRest({ ...run, state: "running" }))).toBe("I10");
  expect(violated(() => checkRunAtRest({ ...run, told: [] }))).toBe("I4");
  const timed = { ...run, startedNow: 0, reason: "deadline" };
  expect(violated(() => checkDeadline({ ...timed, endedNow: 30_000 }, -1))).toBe("nothing");
  expect(violated(() => checkDeadline({ ...timed, endedNow: 32_000 }, -1))).toBe("I22");
  expect(violated(() => checkDeadline({ ...timed, endedNow: 3_000 }, -1))).toBe("I22");
  expect(violated(() => checkAgentsAtRest(tree))).toBe("nothing");
  expect(violated(() => checkAgentsAtRest(watchRows(smallRows(smallSteps()).slice(0, 3))))).toBe("I16");
  const root = tree.agents.get(0);
  if (root !== undefined) tree.agents.set(1, { ...root, number: 1 });
  expect(violated(() => checkAgentsAtRest(tree))).toBe("I10");
  await expect(checkStoreAtRest(createMemoryStore(), tree)).rejects.toThrow("I21");
});

test("I24: the checker finds a step that is shown twice, too late, too early or changed", () => {
  const tree = watchRows(smallRows(smallSteps()));
  const event = (seq: number) => treeEventOf(tree.id, tree.rows[seq - 1] as JournalRow);
  expect(violated(() => checkEvent(tree, event(3), 2))).toBe("nothing");
  expect(violated(() => checkEvent(tree, event(3), 3))).toBe("I24");
  expect(violated(() => checkEvent(tree, event(3), 1))).toBe("I24");
  expect(violated(() => checkEvent(tree, { ...event(3), seq: 99 }, 98))).toBe("I24");
  expect(violated(() => checkEvent(tree, { ...event(3), at: 7 }, 2))).toBe("I24");
  expect(violated(() => checkEvent(tree, { ...event(3), texts: ["other"] }, 2))).toBe("I24");
  tree.erased.set(3, null);
  expect(violated(() => checkEvent(tree, { ...event(3), texts: [] }, 2))).toBe("nothing");
  expect(violated(() => checkSeen(tree, tree.rows.length))).toBe("nothing");
  expect(violated(() => checkSeen(tree, tree.rows.length - 1))).toBe("I24");
  expect(violated(() => checkStillThere(tree, tree.rows.length))).toBe("nothing");
  expect(violated(() => checkStillThere(tree, tree.rows.length + 1))).toBe("I24");
});

/** A seed with few rows in memory: the observer's tree, and its store. */
async function smallSeed(): Promise<{ readonly disk: Disk; readonly tree: WatchedTree }> {
  const disk = memoryDisk();
  const { watch, failure } = await simulate(3, disk);
  const [tree] = watch.trees.values();
  if (tree === undefined || failure !== null) throw new Error("the seed for this test is no longer what it was");
  return { disk, tree };
}

test("I20: the checker finds a row that differs from its replay, although the chain is intact", async () => {
  const { disk, tree } = await smallSeed();
  const texts: [string, string][] = [];
  for (const hash of tree.rows.flatMap(definitionHashes)) {
    texts.push([hash, (await disk.beside().blob(asTreeId(tree.id), hash)) ?? ""]);
  }
  const proof = (): ProvenJournal => {
    const journal = createProvenJournal();
    for (const [hash, text] of texts) journal.learn(hash, text);
    return journal;
  };
  const whole = proof();
  for (const row of tree.rows) whole.take(row);
  expect(whole.request(0)).toContain('"role":"user"');

  const changed = proof();
  const at = tree.rows.findIndex((row) => (headRead(row.head).events?.length ?? 0) > 1);
  for (const row of tree.rows.slice(0, at)) changed.take(row);
  const row = tree.rows[at] as JournalRow;
  const { events = [], ...rest } = headRead(row.head);
  const head = JSON.stringify({ ...rest, events: events.slice(0, -1) });
  const hash = sha256((tree.rows[at - 1]?.hash ?? "") + head);
  expect(violated(() => changed.take({ ...row, head, hash }))).toBe("I20");
});

test("I21: the checker finds a stored row or an erased body that differs from the committed one", async () => {
  const { disk, tree } = await smallSeed();
  const store = disk.beside();
  await checkStoredJournal(store, tree);
  const [first, second, ...others] = tree.rows as [JournalRow, JournalRow, ...JournalRow[]];
  const otherwise = (rows: JournalRow[], erased = tree.erased): Promise<void> =>
    checkStoredJournal(store, { ...tree, rows, erased });
  await expect(otherwise([first, ...others])).rejects.toThrow("I21");
  await expect(otherwise([first, { ...second, head: "{}" }, ...others])).rejects.toThrow("I21");
  await expect(otherwise([first, { ...second, body: "[]" }, ...others])).rejects.toThrow("I21");
  const kept = tree.rows.find((row) => row.body !== null && !tree.erased.has(row.seq))?.seq ?? 0;
  await expect(otherwise([...tree.rows], new Map([...tree.erased, [kept, null]]))).rejects.toThrow("I21");
});
