/**
 * A tree stays in the format it was begun in; which one that is, the store says. Formats other than 1 are made up here.
 */

import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import type { Store } from "../../src/contracts/store.ts";
import { asPostId, asTreeId } from "../../src/core/values/ids.ts";
import { JOURNAL_FORMAT } from "../../src/core/journal/revision.ts";
import { sha256 } from "../../src/runtime/create-runtime.ts";
import { mailOf } from "../../src/runtime/messages/mail.ts";
import { createMemoryStore } from "../../src/stores/memory/memory-store.ts";
import { openSqliteStore } from "../../src/stores/sqlite/sqlite-store.ts";
import { say } from "../../src/testing/index.ts";
import { openTestErrand, temporaryFolder } from "../support/test-errand.ts";
import { trustChangedStore } from "../support/trusted-store.ts";

const OLDER = JOURNAL_FORMAT - 1;
const NEWER = JOURNAL_FORMAT + 1;
const answers = { parent: () => say("fine") };

/** A store in memory that outlives its runtimes, and says that new trees are written in this format. */
function keptStore(format: () => number): Store {
  return { ...createMemoryStore(), format: async () => format(), close: async () => {} };
}

test("new trees are written in the format that the store says, as soon as it says so, and forks in their origin's", async () => {
  let format = OLDER;
  const store = keptStore(() => format);
  const { errand } = await openTestErrand(answers, { store });
  const first = await errand.openAgent();
  await first.postAndAwait("hello");
  format = JOURNAL_FORMAT;
  const second = await errand.openAgent();
  const fork = await errand.fork(first.id, { at: 2 });
  const formats = [first, second, fork].map(async (agent) => (await store.tree(asTreeId(agent.id)))?.format);
  expect(await Promise.all(formats)).toEqual([OLDER, JOURNAL_FORMAT, OLDER]);
});

test("a process writes no format that it does not know, whatever the store says", async () => {
  const store = keptStore(() => NEWER);
  const { errand } = await openTestErrand(answers, { store });
  const { id } = await errand.openAgent();
  expect(await store.tree(asTreeId(id))).toMatchObject({ format: JOURNAL_FORMAT });
});

test("a tree of a newer format is left alone with a clear error, and the others go on", async () => {
  const path = join(temporaryFolder(), "errand.db");
  const first = await openTestErrand(answers, { store: path });
  const newer = await first.errand.openAgent();
  const known = await first.errand.openAgent();
  await first.errand.close();
  const store = openSqliteStore({ path, access: "own" });
  const before = await store.tree(asTreeId(newer.id));
  const message = { type: "message-posted", id: asPostId("m"), to: 0, kind: "user", size: 7 } as const;
  await store.putMail(mailOf(asTreeId(newer.id), message, ["by mail"], sha256));
  await store.close();
  const file = new DatabaseSync(path);
  file.exec(`update trees set format = ${NEWER}, busy = 1, wake_at = 1 where key = 1`);
  file.close();
  await trustChangedStore(path);
  const failures: unknown[] = [];
  const second = await openTestErrand(answers, { store: path, onFailure: (error) => failures.push(error) });
  expect(second.errand.recovered).toBe(0);
  const tooNew = { code: "store-too-new", message: expect.stringContaining(`in format ${NEWER}`) };
  await expect((await second.errand.agent(newer.id)).post("hello")).rejects.toMatchObject(tooNew);
  await expect(second.errand.fork(newer.id, { at: 1 })).rejects.toMatchObject(tooNew);
  expect((await (await second.errand.agent(known.id)).postAndAwait("hello")).text).toBe("fine");
  await second.errand.close();
  expect(failures).toEqual([]);
  const after = openSqliteStore({ path, access: "read" });
  expect(await after.tree(asTreeId(newer.id))).toEqual({ ...before, format: NEWER, busy: true, wakeAt: 1 });
  expect(await after.trees({ limit: 9 })).toHaveLength(2);
  expect(await after.pendingMail(9)).toHaveLength(1);
  await after.close();
});
