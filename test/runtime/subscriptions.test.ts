/**
 * I24: a reader of events, however slow, is shown every committed row once and in order, and costs little memory
 * meanwhile.
 */

import { setImmediate as turn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import type { JournalRow } from "../../src/core/journal/journal.ts";
import { createSubscriptions } from "../../src/runtime/journals/subscriptions.ts";
import { birth, commitOf, part, treeNumber } from "../conformance/store-samples.ts";
import { temporaryStores } from "../conformance/temporary-stores.ts";

const tree = treeNumber(1);
const ROWS = 2_000;
const stores = temporaryStores();

function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
}

async function seqsOf(rows: AsyncGenerator<JournalRow>, through: number): Promise<number[]> {
  const seqs: number[] = [];
  for await (const { seq } of rows) {
    seqs.push(seq);
    if (seq === through) break;
  }
  return seqs;
}

const from = (first: number): number[] => Array.from({ length: ROWS - first + 1 }, (_, index) => first + index);

test("a reader that stands still keeps few rows in memory, then misses none and sees none twice", async () => {
  const store = stores.open({ durability: "none" });
  const subscriptions = createSubscriptions(store);
  await store.commit(commitOf(birth(tree)));
  const slow = subscriptions.rows(tree, 0);
  expect((await slow.next()).value?.seq).toBe(1);
  const published: WeakRef<JournalRow>[] = [];
  for (let seq = 2; seq <= ROWS; seq += 1) {
    const step = part(tree, seq, seq);
    await store.commit(commitOf(step));
    for (const row of step.rows) {
      subscriptions.publish(tree, row);
      published.push(new WeakRef(row));
    }
  }
  await turn();
  collectGarbage();
  expect(published.filter((row) => row.deref() !== undefined).length).toBeLessThanOrEqual(256);
  expect(await seqsOf(slow, ROWS)).toEqual(from(2));
  expect(await seqsOf(subscriptions.rows(tree, 1_234), ROWS)).toEqual(from(1_235));
});

test("a row that became durable without being published reaches a reader that waits for it", async () => {
  const store = stores.open({ durability: "none" });
  const subscriptions = createSubscriptions(store);
  await store.commit(commitOf(birth(tree)));
  const rows = subscriptions.rows(tree, 1);
  const next = rows.next();
  await turn();
  await store.commit(commitOf(part(tree, 2, 2)));
  subscriptions.readMissed(tree);
  expect((await next).value?.seq).toBe(2);
  subscriptions.close();
});

test("rows that another process wrote between two that were published here are not passed over", async () => {
  const store = stores.open({ durability: "none" });
  const subscriptions = createSubscriptions(store);
  await store.commit(commitOf(birth(tree)));
  const rows = subscriptions.rows(tree, 0);
  expect((await rows.next()).value?.seq).toBe(1);
  for (const seq of [2, 3, 4, 5]) {
    const step = part(tree, seq, seq);
    await store.commit(commitOf(step));
    for (const row of step.rows) if (seq === 2 || seq === 5) subscriptions.publish(tree, row);
  }
  expect(await seqsOf(rows, 5)).toEqual([2, 3, 4, 5]);
});

test("what was published before the end is told, also to a reader that is still waiting for the disk", async () => {
  const store = stores.open({ durability: "none" });
  const { promise: onDisk, resolve } = Promise.withResolvers<void>();
  const subscriptions = createSubscriptions({ ...store, flush: () => onDisk });
  await store.commit(commitOf(birth(tree)));
  const seqs = seqsOf(subscriptions.rows(tree, 0), ROWS);
  await turn();
  const step = part(tree, 2, 2);
  await store.commit(commitOf(step));
  for (const row of step.rows) subscriptions.publish(tree, row);
  subscriptions.close();
  resolve();
  expect(await seqs).toEqual([1, 2]);
});
