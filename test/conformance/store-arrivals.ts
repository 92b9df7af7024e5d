/** The part of the store's conformance suite about trees of other formats, and trees that come from another store. */

import { describe, expect, test } from "vitest";
import { JOURNAL_FORMAT } from "../../src/core/journal/revision.ts";
import { asPostId } from "../../src/core/values/ids.ts";
import type { StoreUnderTest } from "./store-under-test.ts";
import { birth, commitOf, part, row, sampleMail, sha256, treeNumber } from "./store-samples.ts";

const [one, two, three] = [treeNumber(1), treeNumber(2), treeNumber(3)];
const NEWER = JOURNAL_FORMAT + 41;

export function describeArrivals(subject: () => StoreUnderTest): void {
  describe("formats", () => {
    test("a new store writes the newest format of the version that made it, and the format only rises", async () => {
      const { store, peer, successor } = subject();
      expect(await store.format()).toBe(JOURNAL_FORMAT);
      await store.raiseFormat(NEWER);
      await store.raiseFormat(JOURNAL_FORMAT);
      expect(await store.format()).toBe(NEWER);
      expect(await (await peer()).format()).toBe(NEWER);
      expect(await (await successor()).format()).toBe(NEWER);
    });

    test("a tree of a format that this version does not know can be looked at, and is nobody's work", async () => {
      const { store } = subject();
      const create = { agent: "main", kind: "foreground", format: NEWER } as const;
      await store.commit(commitOf(birth(one, { create, busy: true, wakeAt: 5 }), birth(two, { wakeAt: 7 })));
      expect(await store.claim([one, two])).toMatchObject([{ id: two }]);
      expect(await store.tree(one)).toMatchObject({ epoch: 1, format: NEWER });
      expect(await store.unfinished(9)).toEqual([two]);
      expect(await store.due(9)).toEqual([two]);
      expect(await store.nextWake()).toBe(7);
      await store.commit(commitOf(part(one, 2, 2)));
      expect(await store.expire(Number.MAX_SAFE_INTEGER, 9)).toEqual([]);
      expect(await store.rows(one, 1, 9)).toHaveLength(2);
    });
  });

  describe("trees from another store", () => {
    test("a tree that is arriving is nobody's work until a commit says what it is", async () => {
      const { store } = subject();
      await store.commit(commitOf(birth(one, { status: "arriving", busy: true, wakeAt: 5, epoch: 4, at: 10 })));
      expect(await store.claim([one])).toEqual([]);
      expect(await store.unfinished(9)).toEqual([]);
      expect(await store.due(9)).toEqual([]);
      expect(await store.nextWake()).toBeNull();
      expect(await store.expire(1_000, 9)).toEqual([]);
      expect(await store.trees({ status: "arriving", limit: 9 })).toMatchObject([{ id: one, epoch: 4 }]);
      await store.commit(commitOf(part(one, 2, 1, { busy: true, wakeAt: 5, epoch: 4, at: 20 })));
      expect(await store.unfinished(9)).toEqual([one]);
      expect(await store.claim([one])).toMatchObject([{ id: one, nextSeq: 2, createdAt: 10, updatedAt: 20 }]);
    });

    test("a tombstone arrives without its rows, with the place where they ended", async () => {
      const { store } = subject();
      const create = {
        agent: "main",
        kind: "foreground",
        format: 1,
        last: { seq: 12, hash: sha256("the last") },
      } as const;
      await store.commit(commitOf(birth(one, { create, rows: [], status: "arriving" })));
      await store.commit(commitOf(part(one, 13, 12, { status: "expired" })));
      expect(await store.tree(one)).toMatchObject({ status: "expired", nextSeq: 13, hash: sha256("the last") });
      expect(await store.rows(one, 1, 99)).toEqual([]);
    });

    test("all blobs and all posts of a tree are listed, and mail is not among them", async () => {
      const { store, peer } = subject();
      const blobs = ["b", "c", "a"].map((text) => ({ hash: sha256(text), text }));
      const posts = ["\uffff", "p", "\ud83d\ude00"].map((id) => ({
        id: asPostId(id),
        hash: sha256(id),
        seq: 1,
        endedSeq: id === "p" ? 1 : null,
      }));
      const other = { blobs: [{ hash: sha256("d"), text: "d" }], posts: posts.slice(0, 1) };
      await store.commit(commitOf(birth(one, { blobs, posts }), birth(two, other)));
      await store.putMail(sampleMail(one, "waiting"));
      for (const handle of [store, await peer()]) {
        expect(await handle.blobs(one)).toEqual(blobs.toSorted((a, b) => (a.hash < b.hash ? -1 : 1)));
        expect(await handle.posts(one)).toEqual([posts[1], posts[2], posts[0]]);
        expect(await handle.blobs(three)).toEqual([]);
        expect(await handle.posts(three)).toEqual([]);
      }
      expect(await store.rows(one, 1, 9)).toEqual([row(1)]);
    });
  });
}
