/** The part of the store's conformance suite about mail, posts and the outbox. */

import { describe, expect, test } from "vitest";
import { asPostId, asStepKey } from "../../src/core/values/ids.ts";
import type { StoreUnderTest } from "./store-under-test.ts";
import { birth, commitOf, part, sampleMail, sampleUuid, sha256, treeNumber } from "./store-samples.ts";

const [one, two] = [treeNumber(1), treeNumber(2)];

export function describeMail(subject: () => StoreUnderTest): void {
  describe("mail and posts", () => {
    test("mail is put once per tree and id, and the same id with another hash is a reuse [4]", async () => {
      const { store } = subject();
      const id = sampleUuid("post", 1);
      expect(await store.putMail(sampleMail(one, id))).toEqual({ status: "put" });
      expect(await store.putMail(sampleMail(one, id))).toEqual({ status: "known" });
      expect(await store.putMail(sampleMail(one, id, "other"))).toEqual({ status: "id-reused" });
      expect(await store.putMail(sampleMail(two, id, "other"))).toEqual({ status: "put" });
      expect(await store.pendingMail(9)).toEqual([sampleMail(one, id), sampleMail(two, id, "other")]);
      expect(await store.post(one, asPostId(id))).toBeNull();
    });

    test("mail waits in the order it was put, whichever process put it, until a commit records its post", async () => {
      const { store } = subject();
      const peer = await subject().peer();
      await store.putMail(sampleMail(one, "c"));
      await peer.putMail(sampleMail(two, "a"));
      await peer.putMail(sampleMail(one, "b"));
      const waiting = async (limit: number) => (await store.pendingMail(limit)).map(({ id }) => id);
      expect(await waiting(9)).toEqual(["c", "a", "b"]);
      expect(await waiting(2)).toEqual(["c", "a"]);
      const posts = [{ id: asPostId("c"), hash: sha256("hello"), seq: 1, endedSeq: null }];
      await store.commit(commitOf(birth(one, { posts })));
      expect(await waiting(9)).toEqual(["a", "b"]);
      expect(await peer.putMail(sampleMail(one, "c"))).toEqual({ status: "known" });
      expect(await peer.putMail(sampleMail(one, "c", "other"))).toEqual({ status: "id-reused" });
      expect(await waiting(9)).toEqual(["a", "b"]);
    });

    test("a mail's taking is undone with the commit that would have taken it [1]", async () => {
      const { store } = subject();
      await store.putMail(sampleMail(one, "m"));
      const posts = [{ id: asPostId("m"), hash: sha256("hello"), seq: 1, endedSeq: null }];
      await expect(store.commit(commitOf(birth(one, { posts }), part(two, 1, 1)))).rejects.toMatchObject({
        code: "commit-conflict",
      });
      expect(await store.pendingMail(9)).toEqual([sampleMail(one, "m")]);
      expect(await store.post(one, asPostId("m"))).toBeNull();
    });

    test("a post of the owner is known to later mail, and its end is recorded", async () => {
      const { store } = subject();
      const post = { id: asPostId("own"), hash: sha256("hello"), seq: 1, endedSeq: null };
      await store.commit(commitOf(birth(one, { posts: [post] })));
      expect(await store.post(one, post.id)).toEqual(post);
      expect(await store.post(two, post.id)).toBeNull();
      expect(await store.putMail(sampleMail(one, "own"))).toEqual({ status: "known" });
      expect(await store.pendingMail(9)).toEqual([]);
      const postsEnded = [
        { id: post.id, seq: 2 },
        { id: asPostId("nobody"), seq: 2 },
      ];
      await store.commit(commitOf(part(one, 2, 2, { postsEnded })));
      expect(await store.post(one, post.id)).toEqual({ ...post, endedSeq: 2 });
      expect(await store.post(one, asPostId("nobody"))).toBeNull();
    });

    test("a commit that records known mail or a known post with another hash is refused whole [1, 4]", async () => {
      const { store } = subject();
      await store.putMail(sampleMail(one, "m"));
      const post = (id: string, hash: string) => ({ id: asPostId(id), hash, seq: 1, endedSeq: null });
      const refused = [[post("m", "other")], [post("n", "first"), post("n", "second")]];
      for (const posts of refused) {
        await expect(store.commit(commitOf(birth(one, { posts })))).rejects.toMatchObject({ code: "id-reused" });
        expect(await store.tree(one)).toBeNull();
        expect(await store.post(one, asPostId("n"))).toBeNull();
      }
      expect(await store.pendingMail(9)).toEqual([sampleMail(one, "m")]);
      await store.commit(commitOf(birth(one, { posts: [post("n", "first"), post("n", "first")] })));
      expect(await store.post(one, asPostId("n"))).toEqual(post("n", "first"));
    });

    test("mail of another process is told of once", async () => {
      const { store } = subject();
      const peer = await subject().peer();
      await store.changed();
      expect(await store.changed()).toBe(false);
      await store.commit(commitOf(birth(one)));
      expect(await store.changed()).toBe(false);
      await peer.putMail(sampleMail(one, "m"));
      expect(await store.changed()).toBe(true);
      expect(await store.changed()).toBe(false);
    });
  });

  describe("the outbox", () => {
    test("messages wait in the order they were decided until a commit acknowledges them", async () => {
      const { store } = subject();
      const message = (key: string) => ({ key: asStepKey(key), agent: 3, text: `text of ${key}`, at: 5 });
      await store.commit(
        commitOf(
          birth(two, { outbox: [message("1.0")] }),
          birth(one, { status: "closed", outbox: [message("10.0"), message("2.0")] }),
        ),
      );
      await store.commit(commitOf(part(one, 2, 2, { outbox: [message("11.0"), message("2.0")] })));
      expect(await store.pendingOutbox(one)).toEqual(["10.0", "2.0", "11.0"].map(message));
      expect(await store.pendingOutbox(treeNumber(9))).toEqual([]);
      expect(await store.outboxTrees()).toEqual([two, one]);
      const acknowledged = [
        { tree: one, key: asStepKey("2.0") },
        { tree: two, key: asStepKey("1.0") },
        { tree: treeNumber(9), key: asStepKey("1.0") },
      ];
      await store.commit({ trees: [part(one, 3, 3)], acknowledged });
      expect(await store.pendingOutbox(one)).toEqual(["10.0", "11.0"].map(message));
      expect(await store.outboxTrees()).toEqual([one]);
    });
  });
}
