/** The part of the store's conformance suite about the records of trees, and their retention. */

import { describe, expect, test } from "vitest";
import type { Store } from "../../src/contracts/store.ts";
import { asPostId as postOf } from "../../src/core/values/ids.ts";
import { birth, commitOf, part, sampleMail, sampleRun, sha256, treeNumber } from "./store-samples.ts";
import type { StoreUnderTest } from "./store-under-test.ts";

const [one, two, three] = [treeNumber(1), treeNumber(2), treeNumber(3)];

/** An idle tree with one run, whose outcome was delivered. */
const idleTree = (tree: ReturnType<typeof treeNumber>, at: number, run: Partial<ReturnType<typeof sampleRun>> = {}) =>
  birth(tree, {
    at,
    busy: false,
    wakeAt: null,
    runs: [{ ...sampleRun(1), state: "ended", delivery: "placed", ...run }],
  });

export function describeRetention(subject: () => StoreUnderTest): void {
  describe("retention", () => {
    test("D10: a tree at rest for long expires as one, and leaves its record", async () => {
      const { store } = subject();
      await store.commit(
        commitOf({ ...idleTree(one, 100), posts: [{ id: postOf("p"), hash: sha256("p"), seq: 1, endedSeq: null }] }),
      );
      expect(await store.expire(100, 9)).toEqual([]);
      expect(await store.expire(101, 9)).toEqual([one]);
      expect(await store.tree(one)).toMatchObject({ id: one, status: "expired" });
      expect(await store.rows(one, 1, 9)).toEqual([]);
      expect(await store.runs({ tree: one, limit: 9 })).toEqual([]);
      expect(await store.run(sampleRun(1).id)).toBeNull();
      expect(await store.post(one, postOf("p"))).toBeNull();
      expect(await store.expire(101, 9)).toEqual([]);
    });

    test("D10: what is busy, waits, asks, holds mail or was not told is left alone", async () => {
      const { store } = subject();
      await store.commit(commitOf({ ...idleTree(one, 100), busy: true }));
      await store.commit(commitOf({ ...idleTree(two, 100), wakeAt: 50, runs: [] }));
      await store.commit(commitOf({ ...idleTree(three, 100), runs: [] }));
      await store.putMail(sampleMail(three, "late"));
      const untold = treeNumber(4);
      await store.commit(commitOf({ ...idleTree(untold, 100), runs: [{ ...sampleRun(2), delivery: "pending" }] }));
      await store.commit(commitOf({ ...idleTree(treeNumber(5), 100), runs: [], questions: 1 }));
      expect(await store.expire(1_000, 9)).toEqual([]);
    });

    test("no more trees expire at once than were asked for, the oldest first", async () => {
      const { store } = subject();
      await store.commit(commitOf({ ...idleTree(one, 100), runs: [] }));
      await store.commit(commitOf({ ...idleTree(two, 200), runs: [] }));
      expect(await store.expire(1_000, 1)).toEqual([one]);
      expect(await store.expire(1_000, 1)).toEqual([two]);
    });
  });
}

export function describeTrees(subject: () => StoreUnderTest): void {
  describe("trees", () => {
    test("trees are listed newest first, in pages, and by status", async () => {
      const { store } = subject();
      const all = [1, 2, 3, 4, 5].map(treeNumber);
      for (const [index, tree] of all.entries())
        await store.commit(commitOf(birth(tree, { status: index % 2 === 0 ? "open" : "closed" })));
      const listed = async (query: Parameters<Store["trees"]>[0]) =>
        (await store.trees(query)).map(({ id }) => all.indexOf(id) + 1);
      expect(await listed({ limit: 9 })).toEqual([5, 4, 3, 2, 1]);
      expect(await listed({ limit: 2 })).toEqual([5, 4]);
      expect(await listed({ limit: 2, before: treeNumber(4) })).toEqual([3, 2]);
      expect(await listed({ limit: 2, before: treeNumber(1) })).toEqual([]);
      expect(await listed({ limit: 2, before: treeNumber(77) })).toEqual([]);
      expect(await listed({ limit: 9, status: "closed" })).toEqual([4, 2]);
      expect(await listed({ limit: 1, status: "open", before: treeNumber(5) })).toEqual([3]);
      expect(await listed({ limit: 9, status: "quarantined" })).toEqual([]);
    });

    test("trees in which a question waits are found among all, until it is answered", async () => {
      const { store } = subject();
      const all = [1, 2, 3, 4].map(treeNumber);
      const asked = [2, 0, 1, 3];
      for (const [index, tree] of all.entries())
        await store.commit(
          commitOf(birth(tree, { questions: asked[index] ?? 0, status: index === 2 ? "closed" : "open" })),
        );
      const asking = async (query: Partial<Parameters<Store["trees"]>[0]> = {}) =>
        (await store.trees({ asking: true, limit: 9, ...query })).map((tree) => [
          all.indexOf(tree.id) + 1,
          tree.questions,
        ]);
      expect(await asking()).toEqual([
        [4, 3],
        [3, 1],
        [1, 2],
      ]);
      expect(await asking({ limit: 1, before: treeNumber(4) })).toEqual([[3, 1]]);
      expect(await asking({ status: "open" })).toEqual([
        [4, 3],
        [1, 2],
      ]);
      await store.commit(
        commitOf(part(treeNumber(4), 2, 2, { questions: 0 }), part(treeNumber(2), 2, 2, { questions: 1 })),
      );
      expect(await asking()).toEqual([
        [3, 1],
        [2, 1],
        [1, 2],
      ]);
    });

    test("a restart finds open trees that are busy or due, and no other", async () => {
      const { store } = subject();
      expect(await store.nextWake()).toBeNull();
      const trees = [
        birth(treeNumber(1), { busy: true }),
        birth(treeNumber(2), { wakeAt: 20 }),
        birth(treeNumber(3), { wakeAt: 10 }),
        birth(treeNumber(4), { wakeAt: 30, busy: true }),
        birth(treeNumber(5), { status: "closed", busy: true, wakeAt: 5 }),
        birth(treeNumber(6)),
      ];
      await store.commit({ trees, acknowledged: [] });
      const numbers = (ids: readonly string[]) => ids.map((id) => trees.findIndex(({ tree }) => tree === id) + 1);
      expect(numbers(await store.unfinished(0))).toEqual([1, 4]);
      expect(numbers(await store.unfinished(20))).toEqual([1, 2, 3, 4]);
      expect(numbers(await store.due(9))).toEqual([]);
      expect(numbers(await store.due(10))).toEqual([3]);
      expect(numbers(await store.due(30))).toEqual([3, 2, 4]);
      expect(await store.nextWake()).toBe(10);
      await store.commit(
        commitOf(part(treeNumber(3), 2, 2), part(treeNumber(1), 2, 2), part(treeNumber(2), 2, 2, { wakeAt: 40 })),
      );
      expect(await store.nextWake()).toBe(30);
      expect(numbers(await store.unfinished(0))).toEqual([4]);
      await store.markFailure(treeNumber(4), true);
      expect(await store.nextWake()).toBe(40);
      expect(numbers(await store.unfinished(100))).toEqual([2]);
    });

    test("failures are counted, quarantine a tree when told to, and are forgotten on release", async () => {
      const { store } = subject();
      await store.commit(commitOf(birth(one), birth(two, { status: "closed" })));
      await store.markFailure(one, false);
      expect(await store.tree(one)).toMatchObject({ failures: 1, status: "open" });
      await store.markFailure(one, true);
      expect(await store.tree(one)).toMatchObject({ failures: 2, status: "quarantined" });
      await store.release(one);
      expect(await store.tree(one)).toMatchObject({ failures: 0, status: "open", nextSeq: 2 });
      await store.markFailure(two, false);
      await store.release(two);
      expect(await store.tree(two)).toMatchObject({ failures: 0, status: "closed" });
      await expect(store.markFailure(three, false)).rejects.toMatchObject({ code: "tree-unknown" });
      await expect(store.release(three)).rejects.toMatchObject({ code: "tree-unknown" });
    });

    test("why a tree is unplaced is kept until it is placed, whatever is committed meanwhile", async () => {
      const { store } = subject();
      await store.commit(commitOf(birth(one)));
      expect(await store.tree(one)).toMatchObject({ unplaced: null });
      await store.markUnplaced(one, "the tool press is not installed \ud800");
      await store.commit(commitOf(part(one, 2, 3)));
      expect(await store.tree(one)).toMatchObject({
        unplaced: "the tool press is not installed \ud800",
        status: "open",
        nextSeq: 4,
        failures: 0,
      });
      expect(await store.trees({ limit: 1 })).toMatchObject([{ unplaced: "the tool press is not installed \ud800" }]);
      await store.markUnplaced(one, null);
      expect(await store.tree(one)).toMatchObject({ unplaced: null, nextSeq: 4 });
      await expect(store.markUnplaced(three, "x")).rejects.toMatchObject({ code: "tree-unknown" });
    });

    test("the anchor is the last one set", async () => {
      const { store } = subject();
      expect(await store.anchor()).toBeNull();
      await store.setAnchor({ at: 1, wall: 2, monotonic: 3.5, boot: "first" });
      const last = { at: 1_800_000_000_000, wall: 1_800_000_000_123, monotonic: 12_345.678, boot: "second" };
      await store.setAnchor(last);
      expect(await store.anchor()).toEqual(last);
    });
  });
}
