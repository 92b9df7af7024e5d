/** A file with everything that a store can hold, and what a store holds, as data to be compared. */

import type { Store, TreeCommit, TreeRecord } from "../../../src/contracts/store.ts";
import { asPostId, asStepKey } from "../../../src/core/values/ids.ts";
import { createErrand } from "../../../src/runtime/create-runtime.ts";
import { openSqliteStore } from "../../../src/stores/sqlite/sqlite-store.ts";
import { createScriptedModels, say } from "../../../src/testing/index.ts";
import { sampleMail, treeNumber } from "../../conformance/store-samples.ts";
import { GOLDEN_SCENARIOS, journalLines } from "../../replay/golden-scenarios.ts";

const moment = async (): Promise<void> => undefined;

/**
 * Trees of every golden scenario, one of them long; a tombstone, a quarantined tree, failures, open questions, messages
 * and mail.
 */
export async function makeFullStore(path: string, { posts }: { readonly posts: number }): Promise<void> {
  const store = { path, durability: "relaxed" } as const;
  for (const scenario of Object.values(GOLDEN_SCENARIOS)) {
    await journalLines(scenario, { store, settle: moment, close: moment });
  }
  const models = [createScriptedModels({ "scripted/parent": () => say("é😀 fine") })];
  const errand = await createErrand({ store, models, model: "scripted/parent", tools: [] });
  const agent = await errand.openAgent({ kind: "background" });
  for (let count = 0; count < posts; count += 1) await agent.postAndAwait(`hello \0 \ud800 ${count}`);
  await errand.close({ withinMs: 0 });
  await addRarities(path);
}

async function addRarities(path: string): Promise<void> {
  const store = openSqliteStore({ path, access: "own" });
  const [, quarantined, failing, changed] = (await treesOf(store)).filter(({ status }) => status === "open");
  if (quarantined === undefined || failing === undefined || changed === undefined) throw new Error("too few trees");
  await store.expire(Number.MAX_SAFE_INTEGER, 1);
  for (let times = 0; times < 3; times += 1) await store.markFailure(quarantined.id, times === 2);
  await store.markFailure(failing.id, false);
  await store.commit({
    acknowledged: [],
    trees: [
      unchanged(changed, {
        busy: true,
        wakeAt: 77,
        questions: 2,
        outbox: [2, 1].map((number) => ({ key: asStepKey(`1.${number}`), agent: 0, text: "\0 told", at: 5 })),
        snapshot: { seq: 1, revision: "another", text: "\ud800" },
        posts: [{ id: asPostId("\ud83d\ude00"), hash: "no hash", seq: 1, endedSeq: 1 }],
      }),
    ],
  });
  for (const mail of ["b", "a", "\0"]) await store.putMail(sampleMail(changed.id, mail));
  await store.putMail(sampleMail(treeNumber(99), "early"));
  await store.close();
}

export function unchanged(tree: TreeRecord, over: Partial<TreeCommit>): TreeCommit {
  const { id, epoch, nextSeq, status, wakeAt, busy, questions, updatedAt } = tree;
  const nothing = { rows: [], blobs: [], runs: [], posts: [], postsEnded: [], outbox: [], erased: [] };
  return { tree: id, epoch, expectedSeq: nextSeq, status, wakeAt, busy, questions, at: updatedAt, ...nothing, ...over };
}

/** Oldest first. */
export async function treesOf(store: Store): Promise<TreeRecord[]> {
  return (await store.trees({ limit: 9_999 })).toReversed();
}

/** All that a store holds but the epochs of its trees, which are its own. */
export async function contentsOf(store: Store): Promise<object> {
  const trees = [];
  for (const tree of await treesOf(store)) {
    const { id } = tree;
    trees.push({
      record: { ...tree, epoch: "its own" },
      rows: await store.rows(id, 1, 99_999),
      blobs: await store.blobs(id),
      posts: await store.posts(id),
      runs: await store.runs({ tree: id, limit: 99_999 }),
      outbox: await store.pendingOutbox(id),
      snapshot: await store.snapshot(id),
    });
  }
  return { trees, mail: await store.pendingMail(99_999) };
}

/** The same of a file, whether it was moved or not. */
export async function contentsOfFile(path: string): Promise<object> {
  const store = openSqliteStore({ path, access: "read", evenMoved: true });
  try {
    return await contentsOf(store);
  } finally {
    await store.close();
  }
}
