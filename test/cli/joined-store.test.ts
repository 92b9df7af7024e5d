/** Several stores of a folder read as one. */

import { expect, test } from "vitest";
import { joinStores } from "../../src/cli/store/joined-store.ts";
import type { Store } from "../../src/contracts/store.ts";
import { everyTree } from "../../src/runtime/trees/every-tree.ts";
import { createMemoryStore } from "../../src/stores/memory/memory-store.ts";
import { birth, commitOf, sampleMail, treeNumber } from "../conformance/store-samples.ts";

async function storeWith(...numbers: number[]): Promise<Store> {
  const store = createMemoryStore();
  for (const number of numbers)
    await store.commit(commitOf(birth(treeNumber(number), { at: number, wakeAt: number, busy: number % 2 === 1 })));
  return store;
}

test("trees of all stores are listed newest first, page by page, and each is found in its store", async () => {
  const joined = joinStores([await storeWith(1, 4, 5), await storeWith(2, 3)]);
  const all = [5, 4, 3, 2, 1].map(treeNumber);
  expect((await joined.trees({ limit: 9 })).map(({ id }) => id)).toEqual(all);
  const first = await joined.trees({ limit: 2 });
  const before = first.at(-1)?.id;
  expect(before).toBe(treeNumber(4));
  const rest = await joined.trees({ limit: 9, ...(before === undefined ? {} : { before }) });
  expect([...first, ...rest].map(({ id }) => id)).toEqual(all);
  expect((await everyTree(joined)).filter(({ busy }) => busy)).toHaveLength(3);
  expect((await joined.tree(treeNumber(3)))?.id).toBe(treeNumber(3));
  expect(await joined.rows(treeNumber(3), 1, 9)).toHaveLength(1);
  expect(await joined.tree(treeNumber(9))).toBeNull();
  expect(new Set(await joined.unfinished(0))).toEqual(new Set([1, 3, 5].map(treeNumber)));
  expect(await joined.nextWake()).toBe(1);
});

test("mail goes to the store that has the tree", async () => {
  const [one, two] = [await storeWith(1), await storeWith(2)];
  await joinStores([one, two]).putMail(sampleMail(treeNumber(2), "a"));
  expect(await one.pendingMail(9)).toEqual([]);
  expect(await two.pendingMail(9)).toHaveLength(1);
});
