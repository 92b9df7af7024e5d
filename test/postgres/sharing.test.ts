/** Several processes' runtimes on one database: who runs a tree, and what the others do meanwhile. */

import { setTimeout as sleep } from "node:timers/promises";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import type { Channel, ErrandOptions, Store } from "../../src/index.ts";
import { hang, say, type Script } from "../../src/testing/index.ts";
import { asPostId, asTreeId } from "../../src/core/values/ids.ts";
import { openStoreAt, sha256 } from "../../src/runtime/create-runtime.ts";
import { mailOf } from "../../src/runtime/messages/mail.ts";
import { createDatabase, runSql, type TestDatabase } from "../support/postgres/databases.ts";
import { openTestErrand } from "../support/test-errand.ts";

vi.setConfig({ testTimeout: 60_000 });

let database: TestDatabase;
beforeEach(async () => {
  const made = await createDatabase();
  database = made;
  // Not afterEach: the runtimes of the test close before, in the reverse order.
  onTestFinished(() => made.drop());
});

const open = async (parent: Script, options: Partial<ErrandOptions> = {}) =>
  (await openTestErrand({ parent }, { store: database.url, ...options })).errand;

const echo: Script = (_request, { newest }) => say(`heard ${newest}`);

async function ownerOf(tree: string): Promise<unknown> {
  const [row] = await runSql(database.url, `select owner from errand.trees where id = '${tree}'`);
  return row?.["owner"];
}

async function until(done: () => Promise<boolean>, withinMs = 20_000): Promise<void> {
  for (const end = performance.now() + withinMs; !(await done()); await sleep(20)) {
    if (performance.now() > end) throw new Error("it did not come to pass");
  }
}

test("a tree that is released with open work is taken by a worker, and its caller gets the answer", async () => {
  const first = await open(() => hang(), { recover: false });
  const agent = await first.openAgent();
  await agent.post("one", { id: "m1" });
  const worker = await open(echo);
  await first.close({ withinMs: 0 });
  const asking = await open(echo, { recover: false });
  const reply = await (await asking.agent(agent.id)).postAndAwait("one", { id: "m1" });
  expect(reply.text).toBe("heard one");
  expect((await worker.replay(agent.id)).difference).toBeNull();
});

test("a message for a tree of another process is taken there, and the answer comes back with its text", async () => {
  const owner = await open(echo, { recover: false });
  const agent = await owner.openAgent();
  const delivered: string[] = [];
  const channel: Channel = { deliver: async ({ text }) => void delivered.push(text) };
  const other = await open(() => say("never asked"), { recover: false });
  const remote = await other.agent(agent.id, { channel });
  const facts: string[] = [];
  const following = (async () => {
    for await (const event of other.journal(agent.id)) {
      facts.push(...event.facts.map((fact) => fact.type));
      if (facts.includes("turn-ended")) return;
    }
  })();
  expect((await remote.postAndAwait("two", { id: "m2" })).text).toBe("heard two");
  await following;
  await until(async () => delivered.length > 0);
  expect(delivered).toEqual(["heard two"]);
  expect((await remote.postAndAwait("two", { id: "m2" })).text).toBe("heard two");
  await expect(remote.post("other words", { id: "m2" })).rejects.toMatchObject({ code: "id-reused" });
  expect(other.treesInMemory()).toBe(0);
});

test("a process that is no worker leaves the trees of others alone", async () => {
  const first = await open(() => hang(), { recover: false });
  const agent = await first.openAgent();
  await agent.post("one");
  await first.close({ withinMs: 0 });
  const bystander = await open(echo, { recover: false });
  await sleep(7_000);
  expect(bystander.treesInMemory()).toBe(0);
  expect(await ownerOf(agent.id)).toBeNull();
});

test("trees at rest are let go, and woken by mail", async () => {
  const worker = await open(echo);
  const agents = await Promise.all(Array.from({ length: 40 }, () => worker.openAgent()));
  await Promise.all(agents.map((agent) => agent.postAndAwait("hello")));
  await until(async () => {
    const [row] = await runSql(database.url, "select count(*)::int as free from errand.trees where owner is null");
    return row?.["free"] === 8;
  });
  const [free] = await runSql(database.url, "select id from errand.trees where owner is null limit 1");
  const reader = await openStoreAt(database.url, "read");
  const tree = asTreeId(String(free?.["id"]));
  const input = { type: "message-posted", id: asPostId("late"), to: 0, kind: "user", size: 3 } as const;
  const before = performance.now();
  await reader.putMail(mailOf(tree, input, ["you"], sha256));
  await until(async () => ((await reader.post(tree, asPostId("late")))?.endedSeq ?? null) !== null);
  process.stdout.write(`woken by mail in ${Math.round(performance.now() - before)} ms\n`);
  await reader.close();
});

test("a process that others may have taken for dead begins nothing until it knows that they did not", async () => {
  const inner = await openStoreAt(database.url, "own");
  const { shared } = inner;
  if (shared === undefined) throw new Error("not shared");
  let alive = false;
  const returns: (() => void)[] = [];
  const store = {
    ...inner,
    shared: { ...shared, alive: () => alive, onReturn: (listener: () => void) => void returns.push(listener) },
  };
  const { errand, models } = await openTestErrand({ parent: echo }, { store, recover: false });
  const agent = await errand.openAgent();
  await agent.post("one", { id: "m1" });
  await sleep(500);
  expect(models.requests).toEqual([]);
  alive = true;
  for (const listener of returns) listener();
  expect((await agent.postAndAwait("one", { id: "m1" })).text).toBe("heard one");
  expect(models.requests.length).toBe(1);
});

test("what a process held back is begun though an input of the same tree was on its way when it returned", async () => {
  const inner = await openStoreAt(database.url, "own");
  const { shared } = inner;
  if (shared === undefined) throw new Error("not shared");
  let alive = false;
  let gate = Promise.resolve();
  const compared = Promise.withResolvers<void>();
  const returns: (() => void)[] = [];
  const store: Store = {
    ...inner,
    async commit(commit) {
      await gate;
      await inner.commit(commit);
    },
    shared: {
      ...shared,
      alive: () => alive,
      onReturn: (listener) => void returns.push(listener),
      async treeRecords(trees) {
        const records = await shared.treeRecords(trees);
        setImmediate(compared.resolve);
        return records;
      },
    },
  };
  const { errand } = await openTestErrand({ parent: echo }, { store, recover: false });
  const agent = await errand.openAgent();
  await agent.post("one", { id: "m1" });
  const opened = Promise.withResolvers<void>();
  gate = opened.promise;
  const second = agent.post("two", { id: "m2" });
  alive = true;
  for (const listener of returns) listener();
  await compared.promise;
  opened.resolve();
  await second;
  expect((await agent.postAndAwait("one", { id: "m1", timeoutMs: 10_000 })).text).toBe("heard one");
});

test("workers with different versions of a definition: the journal says which was used, and replay holds", async () => {
  const seen: string[] = [];
  const telling: Script = ({ system }, { newest }) => {
    seen.push(system.includes("second edition") ? "second" : "first");
    return say(`heard ${newest}`);
  };
  const edition = (prompt: string) => ({ parent: { prompt }, store: database.url });
  const first = (await openTestErrand({ parent: telling }, edition("The first edition."))).errand;
  const agent = await first.openAgent();
  await agent.postAndAwait("one");
  await first.close();
  const second = (await openTestErrand({ parent: telling }, edition("The second edition."))).errand;
  await (await second.agent(agent.id)).postAndAwait("two");
  await second.close();
  const third = (await openTestErrand({ parent: telling }, edition("The first edition."))).errand;
  await (await third.agent(agent.id)).postAndAwait("three");
  expect(seen).toEqual(["first", "second", "first"]);
  const report = await third.replay(agent.id);
  expect(report.difference).toBeNull();
  const hashes: string[] = [];
  for await (const { facts } of third.journal(agent.id)) {
    for (const fact of facts) {
      const catalog = fact.type === "tree-opened" || fact.type === "catalog-changed" ? fact.catalog : [];
      hashes.push(...catalog.filter(({ name }) => name === "orchestrator").map(({ hash }) => hash));
    }
    if (hashes.length === 3) break;
  }
  expect(new Set(hashes).size).toBe(2);
  expect(hashes[2]).toBe(hashes[0]);
  // Each text is kept with the tree, so that anybody can read later what was used.
  const reader = await openStoreAt(database.url, "read");
  const texts = await Promise.all(hashes.slice(0, 2).map((hash) => reader.blob(asTreeId(agent.id), hash)));
  await reader.close();
  expect(texts[0]).toContain("The first edition.");
  expect(texts[1]).toContain("The second edition.");
});
