/**
 * The conformance suite of the store port: the promises of `src/contracts/store.ts`, tested through the port alone.
 * Numbers in brackets are the promises of that file's header. A new store runs it unchanged: see `memory.test.ts`.
 */

import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Store } from "../../src/contracts/store.ts";
import { describeArrivals } from "./store-arrivals.ts";
import { describeCommits } from "./store-commits.ts";
import { describeMail } from "./store-mail.ts";
import { describeProjections } from "./store-projections.ts";
import { describeRetention, describeTrees } from "./store-trees.ts";
import { asPostId as postOf, asStepKey as keyOf, asTreeId as treeOfText } from "../../src/core/values/ids.ts";
import { birth, commitOf, row, sampleMail, sampleRun, sha256, treeNumber } from "./store-samples.ts";
import type { StoreUnderTest } from "./store-under-test.ts";

export function storeConformance(name: string, makeStore: () => Promise<StoreUnderTest>): void {
  describe(`${name} keeps the promises of a store`, () => {
    let subject: StoreUnderTest;
    beforeEach(async () => {
      subject = await makeStore();
    });
    afterEach(async () => {
      await subject.dispose();
    });
    describeCommits(() => subject);
    describeTrees(() => subject);
    describeRetention(() => subject);
    describeTexts(() => subject, makeStore);
    describeMail(() => subject);
    describeProjections(() => subject);
    describeArrivals(() => subject);
    describeClosing(() => subject);
  });
}

const one = treeNumber(1);

function describeTexts(subject: () => StoreUnderTest, makeStore: () => Promise<StoreUnderTest>): void {
  describe("texts", () => {
    test("any string comes back as it was put, wherever it stands [3]", async () => {
      const anything = fc.oneof(
        fc.string({ unit: "binary" }),
        fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)) }),
      );
      await fc.assert(
        fc.asyncProperty(anything, async (text) => {
          const fresh = await makeStore();
          try {
            await expectTextKept(fresh.store, text);
          } finally {
            await fresh.dispose();
          }
        }),
        { numRuns: 40, examples: [[""], ["\u0000"], ["\ud800"], ["a\udc00\u0000b\ud800"], ["\ufeffx\uffff"]] },
      );
    });

    test("a body of a megabyte comes back as it was put", async () => {
      const { store } = subject();
      const big = row(1, "é😀\u0000".repeat(200_000));
      await store.commit(
        commitOf(birth(one, { rows: [big], blobs: [{ hash: sha256("big"), text: big.head.repeat(100_000) }] })),
      );
      expect(await store.rows(one, 1, 1)).toEqual([big]);
      expect(await store.blob(one, sha256("big"))).toBe(big.head.repeat(100_000));
    });
  });
}

async function expectTextKept(store: Store, text: string): Promise<void> {
  const tree = treeOfText(text);
  const outbox = [{ key: keyOf(`1.${text}`), agent: 0, text, at: 1 }];
  const posts = [{ id: postOf(text), hash: text, seq: 1, endedSeq: null }];
  const runs = [
    sampleRun(1, {
      id: `run${text}`,
      agent: `agent${text}`,
      name: text,
      definition: text,
      reason: text,
      undeliverable: text,
      group: text,
    }),
  ];
  const rows = [{ seq: 1, head: text, body: text, hash: text }];
  const create = { agent: text, kind: "foreground", format: 1 } as const;
  const snapshot = { seq: 1, revision: text, text };
  await store.commit(
    commitOf(birth(tree, { create, rows, blobs: [{ hash: text, text }], runs, posts, outbox, snapshot })),
  );
  expect(await store.tree(tree)).toMatchObject({ id: tree, agent: text, hash: text });
  expect(await store.rows(tree, 1, 1)).toEqual(rows);
  expect(await store.blob(tree, text)).toBe(text);
  expect(await store.snapshot(tree)).toEqual(snapshot);
  expect(await store.pendingOutbox(tree)).toEqual(outbox);
  expect(await store.post(tree, postOf(text))).toEqual(posts[0]);
  expect(await store.run(`run${text}`)).toEqual({ ...runs[0], tree });
  expect(await store.runOfAgent(`agent${text}`)).toEqual({ ...runs[0], tree });
  const mail = { tree, id: postOf(`mail${text}`), hash: text, payload: text };
  expect(await store.putMail(mail)).toEqual({ status: "put" });
  expect(await store.pendingMail(1)).toEqual([mail]);
  await store.setAnchor({ at: 0, wall: 0, monotonic: 0, boot: text });
  expect(await store.anchor()).toMatchObject({ boot: text });
  await store.commit({ trees: [], acknowledged: [{ tree, key: keyOf(`1.${text}`) }] });
  expect(await store.pendingOutbox(tree)).toEqual([]);
}

function describeClosing(subject: () => StoreUnderTest): void {
  test("a closed store refuses everything but to be closed again", async () => {
    const { store } = subject();
    expect(store.description).not.toBe("");
    await store.close();
    await store.close();
    const anchor = { at: 0, wall: 0, monotonic: 0, boot: "" };
    const calls: readonly (() => Promise<unknown>)[] = [
      () => store.commit(commitOf(birth(one))),
      () => store.claim([one]),
      () => store.markFailure(one, false),
      () => store.markUnplaced(one, null),
      () => store.release(one),
      () => store.tree(one),
      () => store.trees({ limit: 1 }),
      () => store.unfinished(1),
      () => store.due(1),
      () => store.nextWake(),
      () => store.rows(one, 1, 1),
      () => store.blob(one, "hash"),
      () => store.blobs(one),
      () => store.snapshot(one),
      () => store.run("run"),
      () => store.runOfAgent("agent"),
      () => store.runs({ limit: 1 }),
      () => store.post(one, postOf("post")),
      () => store.posts(one),
      () => store.putMail(sampleMail(one, "post")),
      () => store.pendingMail(1),
      () => store.changed(),
      () => store.replaceProjections(one, { runs: [], posts: [] }),
      () => store.pendingOutbox(one),
      () => store.outboxTrees(),
      () => store.format(),
      () => store.raiseFormat(1),
      () => store.anchor(),
      () => store.setAnchor(anchor),
    ];
    for (const call of calls) await expect(call()).rejects.toMatchObject({ code: "store-closed" });
  });
}
