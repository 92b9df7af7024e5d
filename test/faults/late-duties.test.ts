/**
 * A worker that lives, and whose heartbeat reaches the database, but which does nothing for its trees: others take
 * them.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import type { ErrandError } from "../../src/index.ts";
import type { Store } from "../../src/contracts/store.ts";
import { ErrandError as StoreError } from "../../src/errors.ts";
import { openStoreAt } from "../../src/runtime/create-runtime.ts";
import { hang, say, type Script } from "../../src/testing/index.ts";
import { createDatabase, runSql } from "../support/postgres/databases.ts";
import { openTestErrand } from "../support/test-errand.ts";

vi.setConfig({ testTimeout: 120_000 });

const echo: Script = (_request, { newest }) => say(`heard ${newest}`);

async function until(what: string, done: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = performance.now() + 60_000; !(await done()); await sleep(100)) {
    if (performance.now() > end) throw new Error(`it never came to pass: ${what}`);
  }
}

test("a worker whose duties are late by a lease says so, loses its trees, and comes back when they succeed", async () => {
  const database = await createDatabase();
  onTestFinished(() => database.drop());
  let deaf = false;
  const real = await openStoreAt(database.url, "own");
  const store: Store = {
    ...real,
    changed: () => (deaf ? Promise.reject(new StoreError("store-busy", "locked for this one")) : real.changed()),
  };
  const notices: ErrandError[] = [];
  const failures: ErrandError[] = [];
  const told = {
    onNotice: (notice: ErrandError) => void notices.push(notice),
    onFailure: (error: ErrandError) => void failures.push(error),
  };
  const first = await openTestErrand({ parent: echo, child: () => hang() }, { store, ...told });
  const agent = await first.errand.openAgent();
  await agent.postAndAwait("one");
  await agent.spawn({ task: "x" });
  const second = await openTestErrand({ parent: echo, child: () => hang() }, { store: database.url, ...told });
  const owner = async () => (await runSql(database.url, "select owner from errand.trees"))[0]?.["owner"];
  const before = await owner();
  deaf = true;
  await until("the other takes the tree", async () => (await owner()) !== before);
  expect(notices.map((notice) => notice.code)).toEqual(["duty-late"]);
  const taken = await second.errand.agent(agent.id);
  expect((await taken.postAndAwait("two")).text).toContain("heard two");
  deaf = false;
  await until("its return is told", () => notices.some((notice) => notice.code === "tree-taken"));
  expect((await (await first.errand.agent(agent.id)).postAndAwait("three")).text).toContain("heard three");
  expect((await first.errand.replay(agent.id)).difference).toBeNull();
  expect(notices.map((notice) => notice.code).toSorted()).toEqual(["duty-late", "duty-late", "tree-taken"]);
  expect(failures).toEqual([]);
});
