/**
 * One tree that the store cannot hold, or whose step throws, costs only itself: the trees beside it, the store and the
 * process go on.
 */

import { join } from "node:path";
import { expect, test } from "vitest";
import { ErrandError, type Store } from "../../src/index.ts";
import type { Commit, TreeCommit } from "../../src/contracts/store.ts";
import { openStoreAt } from "../../src/runtime/create-runtime.ts";
import { createMemoryStore } from "../../src/stores/memory/memory-store.ts";
import { byContext, callTool, hang, say } from "../../src/testing/index.ts";
import { rowRefused } from "../../src/stores/refusals.ts";
import { createDatabase } from "../support/postgres/databases.ts";
import { report, startCall, startRuns } from "../support/scripted-replies.ts";
import { eventsUntil, lookTool, openTestErrand, temporaryFolder, turnsEnded } from "../support/test-errand.ts";

const parent = byContext([callTool("look", {}), say("seen")]);

/** Makes rows of one tree such that the real store behind refuses them, as a value would that no edge has mended. */
function poisoning(store: Store, poisoned: (part: TreeCommit) => boolean): Store {
  const spoil = (part: TreeCommit): TreeCommit => (poisoned(part) ? { ...part, questions: 1e19 } : part);
  return { ...store, commit: (commit: Commit) => store.commit({ ...commit, trees: commit.trees.map(spoil) }) };
}

const stores = [
  { name: "SQLite", open: async () => openStoreAt(join(temporaryFolder(), "errand.db"), "own") },
  { name: "PostgreSQL", open: async () => openStoreAt((await createDatabase()).url, "own") },
];

test.each(stores)(
  "$name: a tree with a row that cannot be stored is quarantined, and all others go on",
  async ({ open }) => {
    const store = await open();
    let target = "";
    const notices: ErrandError[] = [];
    const failures: ErrandError[] = [];
    const { errand } = await openTestErrand(
      { parent },
      {
        store: poisoning(store, (part) => part.tree === target && part.create === undefined),
        onNotice: (notice) => notices.push(notice),
        onFailure: (error) => failures.push(error),
      },
    );
    const agents = await Promise.all(Array.from({ length: 12 }, () => errand.openAgent()));
    target = agents[5]?.id ?? "";
    const answers = await Promise.allSettled(agents.map((agent) => agent.postAndAwait("go")));
    expect(answers.map(({ status }) => status)).toEqual(
      agents.map(({ id }) => (id === target ? "rejected" : "fulfilled")),
    );
    expect(answers[5]).toMatchObject({
      reason: { code: "tree-quarantined", remedy: expect.stringContaining("resume") },
    });
    expect(failures).toEqual([]);
    expect(notices.map(({ code }) => code)).toEqual(["tree-quarantined"]);
    expect(await store.tree(agents[5]?.id as TreeCommit["tree"])).toMatchObject({ status: "quarantined", failures: 3 });
    expect((await (await errand.start("again")).reply()).text).toBe("seen");
  },
);

const results = ({ rows }: TreeCommit): boolean => rows.some(({ head }) => head.includes('"tool-finished"'));

test.each(["SQLite", "PostgreSQL"])(
  "%s: who asks again for the answer of a quarantined tree is rejected",
  async (kind) => {
    const path = kind === "SQLite" ? join(temporaryFolder(), "errand.db") : (await createDatabase()).url;
    const options = { onNotice: () => undefined };
    const first = await openTestErrand(
      { parent },
      { ...options, store: poisoning(await openStoreAt(path, "own"), results) },
    );
    const { id } = await first.errand.openAgent();
    const agent = await first.errand.agent(id);
    await expect(agent.postAndAwait("go", { id: "go" })).rejects.toMatchObject({ code: "tree-quarantined" });
    await first.errand.close();
    const second = await openTestErrand({ parent }, { ...options, store: path });
    const again = (await second.errand.agent(id)).postAndAwait("go", { id: "go", timeoutMs: 10_000 });
    await expect(again).rejects.toMatchObject({ code: "tree-quarantined" });
  },
);

test("who asks again for the answer of a tree that cannot be loaded is rejected, and it is quarantined", async () => {
  const store = { ...createMemoryStore(), close: async () => undefined };
  const first = await openTestErrand({ parent: () => hang() }, { store });
  const agent = await first.errand.openAgent();
  await agent.post("go", { id: "go" });
  await first.errand.close({ withinMs: 0 });
  const corrupt = new ErrandError("store-corrupt", "The snapshot is damaged.");
  const damaged: Store = { ...store, snapshot: () => Promise.reject(corrupt) };
  const second = await openTestErrand({ parent }, { store: damaged, onNotice: () => undefined, recover: false });
  const again = await second.errand.agent(agent.id);
  for (const code of ["store-corrupt", "store-corrupt", "store-corrupt", "tree-quarantined"])
    await expect(again.postAndAwait("go", { id: "go", timeoutMs: 5_000 })).rejects.toMatchObject({ code });
});

test("a caller whose tree is quarantined in another worker is rejected", async () => {
  const { url } = await createDatabase();
  const { promise: gate, resolve: release } = Promise.withResolvers<void>();
  const tools = [lookTool(() => gate.then(() => ({ text: "saw it", failed: false })))];
  const options = { tools, onNotice: () => undefined };
  const first = await openTestErrand(
    { parent },
    { ...options, store: poisoning(await openStoreAt(url, "own"), results) },
  );
  const agent = await first.errand.openAgent();
  await agent.post("go", { id: "go" });
  await eventsUntil(first.errand, agent.id, ({ facts }) => facts.some((fact) => fact.type === "tool-called"));
  const second = await openTestErrand({ parent }, { ...options, store: url, recover: false });
  const asked = (await second.errand.agent(agent.id)).postAndAwait("go", { id: "go", timeoutMs: 20_000 });
  const rejected = expect(asked).rejects.toMatchObject({ code: "tree-quarantined" });
  release();
  await rejected;
});

test("conversations whose common commit is refused are each opened together with their first message", async () => {
  const store = await openStoreAt(join(temporaryFolder(), "errand.db"), "own");
  const opened: number[] = [];
  const alone: Store = {
    ...store,
    async commit(commit) {
      if (commit.trees.length > 1) throw rowRefused("The store", new TypeError("a value cannot be bound"));
      await store.commit(commit);
      opened.push(...commit.trees.filter((part) => part.create !== undefined).map(({ rows }) => rows.length));
    },
  };
  const { errand } = await openTestErrand({ parent }, { store: alone });
  const started = await Promise.all([errand.start("go"), errand.start("go")]);
  expect(await Promise.all(started.map(async ({ reply }) => (await reply()).text))).toEqual(["seen", "seen"]);
  expect(opened).toEqual([2, 2]);
});

test("the slots of a tree that is quarantined are offered to the runs that wait in other trees", async () => {
  const store = await openStoreAt(join(temporaryFolder(), "errand.db"), "own");
  const { promise: gate, resolve: release } = Promise.withResolvers<void>();
  let target = "";
  const { errand } = await openTestErrand(
    {
      parent: byContext([startRuns(startCall("look")), say("Started."), say("Heard.")]),
      child: byContext([callTool("look", {}), report("done", { final: true })]),
    },
    {
      store: poisoning(store, (part) => part.tree === target),
      slots: 1,
      tools: [lookTool(() => gate.then(() => ({ text: "saw it", failed: false })))],
      onNotice: () => {},
    },
  );
  const [first, second] = [await errand.openAgent(), await errand.openAgent()];
  await first.post("go");
  await eventsUntil(errand, first.id, ({ facts }) => facts.some((fact) => fact.type === "tool-called"));
  await second.postAndAwait("go");
  target = first.id;
  release();
  const events = await eventsUntil(errand, second.id, turnsEnded(2));
  expect(events.flatMap(({ facts }) => facts).filter(({ type }) => type === "run-started")).toHaveLength(1);
});

test("a tree that fails while the disk is full is quarantined when there is room again", async () => {
  const store = await openStoreAt(join(temporaryFolder(), "errand.db"), "own");
  const notices: ErrandError[] = [];
  let full = 2;
  const { errand } = await openTestErrand(
    { parent },
    {
      store: {
        ...poisoning(store, ({ rows }) => rows.some(({ head }) => head.includes('"tool-finished"'))),
        async markFailure(tree, quarantine) {
          full -= 1;
          if (full >= 0) throw new ErrandError("store-full", "The disk is full.");
          await store.markFailure(tree, quarantine);
        },
      },
      onNotice: (notice) => notices.push(notice),
    },
  );
  const { reply } = await errand.start("go");
  await expect(reply()).rejects.toMatchObject({ code: "tree-quarantined" });
  expect(notices.map(({ code }) => code)).toEqual(["store-full", "tree-quarantined"]);
});
