/** The part of the store's conformance suite about commits: what they keep, and when they are refused. */

import { describe, expect, test } from "vitest";
import { asStepKey as keyOf } from "../../src/core/values/ids.ts";
import type { StoreUnderTest } from "./store-under-test.ts";
import { birth, commitOf, part, row, sha256, treeNumber } from "./store-samples.ts";

const [one, two, three] = [treeNumber(1), treeNumber(2), treeNumber(3)];

export function describeCommits(subject: () => StoreUnderTest): void {
  describe("commits", () => {
    test("a commit makes a tree and appends its rows [1]", async () => {
      const { store } = subject();
      await store.commit(
        commitOf(part(one, 1, 3, { create: { agent: "main", kind: "background", format: 7 }, at: 50 })),
      );
      await store.commit(commitOf(part(one, 4, 4, { wakeAt: 99, busy: true, questions: 2, at: 60 })));
      expect(await store.tree(one)).toEqual({
        id: one,
        agent: "main",
        kind: "background",
        status: "open",
        epoch: 1,
        nextSeq: 5,
        hash: row(4).hash,
        wakeAt: 99,
        busy: true,
        questions: 2,
        format: 7,
        failures: 0,
        unplaced: null,
        createdAt: 50,
        updatedAt: 60,
      });
      expect(await store.rows(one, 1, 100)).toEqual([row(1), row(2), row(3), row(4)]);
    });

    test("a commit without rows changes the tree's row and leaves its hash", async () => {
      const { store } = subject();
      await store.commit(commitOf(part(two, 1, 0, { create: { agent: "a", kind: "foreground", format: 1 } })));
      expect(await store.tree(two)).toMatchObject({ nextSeq: 1, hash: "" });
      await store.commit(commitOf(birth(one)));
      await store.commit(commitOf(part(one, 2, 1, { status: "closed" })));
      expect(await store.tree(one)).toMatchObject({ nextSeq: 2, hash: row(1).hash, status: "closed" });
    });

    test("a commit whose second tree conflicts changes nothing of the first [1, 2]", async () => {
      const { store } = subject();
      await store.commit({
        trees: [birth(one, { outbox: [{ key: keyOf("1.0"), agent: 0, text: "m", at: 1 }] }), birth(two)],
        acknowledged: [],
      });
      const before = await store.tree(one);
      const first = part(one, 2, 2, { blobs: [{ hash: sha256("b"), text: "b" }], status: "closed" });
      const refused = store.commit({
        trees: [first, part(two, 5, 5)],
        acknowledged: [{ tree: one, key: keyOf("1.0") }],
      });
      await expect(refused).rejects.toMatchObject({ code: "commit-conflict" });
      expect(await store.tree(one)).toEqual(before);
      expect(await store.rows(one, 1, 9)).toEqual([row(1)]);
      expect(await store.blob(one, sha256("b"))).toBeNull();
      expect(await store.pendingOutbox(one)).toHaveLength(1);
    });

    test.each([
      ["a sequence that is already written", part(one, 1, 1)],
      ["a sequence that lies ahead", part(one, 4, 4)],
      ["a gap within its rows", { ...part(one, 3, 3), rows: [row(3), row(5)] }],
      ["a first row other than the expected one", { ...part(one, 3, 3), rows: [row(4)] }],
      ["a tree that is made twice", birth(one)],
      ["a tree that does not exist", part(two, 1, 1)],
      ["a new tree that does not begin at 1", { ...birth(two), expectedSeq: 2, rows: [row(2)] }],
    ])("refuses %s [2]", async (_, refused) => {
      const { store } = subject();
      await store.commit(commitOf(birth(one)));
      await store.commit(commitOf(part(one, 2, 2)));
      const before = await store.tree(one);
      await expect(store.commit(commitOf(refused))).rejects.toMatchObject({ code: "commit-conflict" });
      expect(await store.tree(one)).toEqual(before);
      expect(await store.rows(one, 1, 9)).toEqual([row(1), row(2)]);
      expect(await store.tree(two)).toBeNull();
    });

    test("one commit may hold a tree twice, in sequence", async () => {
      const { store } = subject();
      await store.commit(commitOf(birth(one), part(one, 2, 3), birth(two), part(one, 4, 4)));
      expect(await store.rows(one, 1, 9)).toEqual([row(1), row(2), row(3), row(4)]);
      await expect(store.commit(commitOf(part(one, 5, 5), part(one, 5, 5)))).rejects.toMatchObject({
        code: "commit-conflict",
      });
      await expect(store.commit(commitOf(birth(three), birth(three)))).rejects.toMatchObject({
        code: "commit-conflict",
      });
      expect(await store.tree(one)).toMatchObject({ nextSeq: 5 });
      expect(await store.tree(three)).toBeNull();
    });

    test("a claim raises the epoch, and a lower one changes nothing from then on [2]", async () => {
      await subject().store.commit(commitOf(birth(one), birth(two)));
      const [first] = await subject().store.claim([one]);
      const store = await subject().successor();
      const claimed = await store.claim([one, three, two]);
      expect(claimed.map(({ id }) => id)).toEqual([one, two]);
      const epoch = claimed[0]?.epoch ?? 0;
      expect(epoch).toBeGreaterThan(first?.epoch ?? Infinity);
      await store.commit(commitOf(part(one, 2, 2, { epoch })));
      const before = await store.tree(one);
      expect(before?.epoch).toBe(epoch);
      // One that would change what an index says of the tree, and one that would not.
      for (const status of ["closed", "open"] as const) {
        const refused = store.commit(commitOf(part(one, 3, 3, { epoch: epoch - 1, status })));
        await expect(refused).rejects.toMatchObject({ code: "commit-conflict" });
        expect(await store.tree(one)).toEqual(before);
        expect(await store.rows(one, 1, 9)).toHaveLength(2);
      }
      await store.commit(commitOf(part(one, 3, 3, { epoch })));
    });

    test("rows come in pages", async () => {
      const { store } = subject();
      await store.commit(
        commitOf(part(one, 1, 10, { create: { agent: "a", kind: "foreground", format: 1 } }), birth(two)),
      );
      const numbers = async (from: number, limit: number) => (await store.rows(one, from, limit)).map(({ seq }) => seq);
      expect(await numbers(1, 4)).toEqual([1, 2, 3, 4]);
      expect(await numbers(5, 4)).toEqual([5, 6, 7, 8]);
      expect(await numbers(9, 4)).toEqual([9, 10]);
      expect(await numbers(11, 4)).toEqual([]);
      expect(await numbers(0, 2)).toEqual([1, 2]);
      expect(await store.rows(three, 1, 4)).toEqual([]);
    });

    test("bodies are erased in a commit, and heads and hashes stay", async () => {
      const { store } = subject();
      await store.commit(commitOf(part(one, 1, 3, { create: { agent: "a", kind: "foreground", format: 1 } })));
      const erased = [
        { seq: 1, body: null },
        { seq: 2, body: '["salt",null]' },
        { seq: 9, body: null },
      ];
      await store.commit(commitOf(part(one, 4, 4, { erased })));
      const rows = await store.rows(one, 1, 9);
      expect(rows).toEqual([{ ...row(1), body: null }, { ...row(2), body: '["salt",null]' }, row(3), row(4)]);
    });

    test("blobs belong to their tree, and are put once", async () => {
      const { store } = subject();
      const blob = { hash: sha256("text"), text: "text" };
      await store.commit(commitOf(birth(one, { blobs: [blob, blob] }), birth(two)));
      await store.commit(commitOf(part(one, 2, 2, { blobs: [blob] })));
      expect(await store.blob(one, blob.hash)).toBe("text");
      expect(await store.blob(two, blob.hash)).toBeNull();
      expect(await store.blob(three, blob.hash)).toBeNull();
      expect(await store.blob(one, sha256("other"))).toBeNull();
    });

    test("a tree has its last snapshot", async () => {
      const { store } = subject();
      await store.commit(commitOf(birth(one, { snapshot: { seq: 1, revision: "a", text: "first" } })));
      await store.commit(commitOf(part(one, 2, 2, { snapshot: { seq: 2, revision: "b", text: "second" } })));
      await store.commit(commitOf(part(one, 3, 3), birth(two)));
      expect(await store.snapshot(one)).toEqual({ seq: 2, revision: "b", text: "second" });
      expect(await store.snapshot(two)).toBeNull();
      expect(await store.snapshot(three)).toBeNull();
    });
  });
}
