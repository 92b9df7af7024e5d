/**
 * Rule A9: a process that lacks what a tree needs does not take the tree; one that has it goes on where the first one
 * stopped.
 */

import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { asPostId, asTreeId } from "../../src/core/values/ids.ts";
import type { Errand, ErrandError, ErrandOptions, Tool } from "../../src/index.ts";
import { createErrand } from "../../src/index.ts";
import { openStoreAt, sha256 } from "../../src/runtime/create-runtime.ts";
import { mailOf } from "../../src/runtime/messages/mail.ts";
import { byContext, callTool, createScriptedModels, say } from "../../src/testing/index.ts";
import { projectFolder, runErrand } from "../cli/support/errand-process.ts";
import { createDatabase } from "../support/postgres/databases.ts";
import { eventsUntil, openTestErrand, temporaryFolder, turnsEnded } from "../support/test-errand.ts";

vi.setConfig({ testTimeout: 60_000 });

const tool = (name: string, run: Tool["run"]): Tool => ({
  name,
  description: "Presses the button.",
  schema: { type: "object" },
  safe: true,
  run,
});
const press = tool("press", async () => ({ text: "pressed", failed: false }));
const other = tool("other", async () => ({ text: "other", failed: false }));
const stuck = tool("press", () => new Promise(() => {}));
const scripts = {
  parent: byContext([
    callTool("subagent", { task: "press", agent: "worker" }),
    say("Done."),
    say("Heard."),
    say("Heard more."),
  ]),
  child: byContext([callTool("press", {}), callTool("send_agent_message", { text: "reported", final: true })]),
};

async function openWith(store: string, tools: readonly Tool[], options: Partial<ErrandOptions> = {}): Promise<Errand> {
  return (await openTestErrand(scripts, { store, tools, renewDefinitions: false, ...options })).errand;
}

/** A tree whose child was calling `press` when its process went away. */
async function leftBehind(store: string): Promise<string> {
  const first = await openWith(store, [stuck, other], { recover: false });
  const agent = await first.openAgent();
  await agent.post("go", { id: "go" });
  await eventsUntil(first, agent.id, ({ facts }) => facts.some((fact) => fact.type === "tool-called"));
  await first.close({ withinMs: 0 });
  return agent.id;
}

async function rowOf(store: string, tree: string) {
  const view = await openStoreAt(store, "read");
  try {
    return await view.tree(asTreeId(tree));
  } finally {
    await view.close();
  }
}

async function until(done: () => Promise<boolean>, withinMs = 20_000): Promise<void> {
  for (const end = performance.now() + withinMs; !(await done()); await sleep(20)) {
    if (performance.now() > end) throw new Error("it did not come to pass");
  }
}

const stores: readonly (readonly [string, () => Promise<string>])[] = [
  ["SQLite", async () => join(temporaryFolder(), "errand.db")],
  [
    "PostgreSQL",
    async () => {
      const database = await createDatabase();
      onTestFinished(() => database.drop());
      return database.url;
    },
  ],
];

describe.each(stores)("a tree of a store in %s", (_name, makeStore) => {
  test("stays unplaced where its tool is missing, and goes on where the tool is there", async () => {
    const store = await makeStore();
    const tree = await leftBehind(store);
    const before = await rowOf(store, tree);
    const notices: ErrandError[] = [];
    const lacking = await openWith(store, [other], { onNotice: (notice) => void notices.push(notice) });
    await until(async () => (await rowOf(store, tree))?.unplaced !== null);
    expect(await rowOf(store, tree)).toMatchObject({
      unplaced: expect.stringContaining('needs the tool "press", which is not installed'),
      nextSeq: before?.nextSeq,
      failures: 0,
      status: "open",
      busy: true,
    });
    expect(await lacking.listTrees()).toMatchObject([{ id: tree, unplaced: expect.stringContaining("press") }]);
    expect(lacking.treesInMemory()).toBe(0);
    expect(notices.map(({ code }) => code)).toEqual(["tree-unplaced"]);
    await lacking.close();

    const able = await openWith(store, [press, other]);
    expect((await (await able.agent(tree)).postAndAwait("go", { id: "go" })).text).toBe("Done.");
    expect(await rowOf(store, tree)).toMatchObject({ unplaced: null });
    expect(await able.replay(tree)).toMatchObject({ difference: null, foreign: [] });
  });

  test("stays unplaced where its model is missing, and a message for it is refused with the remedy", async () => {
    const store = await makeStore();
    const tree = await leftBehind(store);
    const lacking = await createErrand({
      store,
      models: [createScriptedModels({ "scripted/parent": [] })],
      model: "scripted/parent",
      tools: [press, other],
      renewDefinitions: false,
      recover: false,
    });
    onTestFinished(() => lacking.close({ withinMs: 0 }));
    const refused = await (await lacking.agent(tree)).post("more").then(
      () => null,
      (error: unknown) => error as ErrandError,
    );
    expect(refused).toMatchObject({ code: "tree-unplaced", remedy: expect.stringContaining("give the model") });
    expect(refused?.message).toContain('needs the model "scripted/child"');
    expect(await rowOf(store, tree)).toMatchObject({ unplaced: expect.stringContaining("scripted/child") });
  });

  test("keeps its mail until a process has what it needs", async () => {
    const store = await makeStore();
    const tree = await leftBehind(store);
    const lacking = await openWith(store, [other], { onNotice: () => {} });
    await until(async () => (await rowOf(store, tree))?.unplaced !== null);
    const view = await openStoreAt(store, "read");
    const input = { type: "message-posted", id: asPostId("m2"), to: 0, kind: "user", size: 4 } as const;
    await view.putMail(mailOf(asTreeId(tree), input, ["more"], sha256));
    await sleep(300);
    expect(await view.pendingMail(10)).toHaveLength(1);
    await lacking.close();
    const able = await openWith(store, [press, other]);
    await eventsUntil(able, tree, turnsEnded(2));
    expect(await view.pendingMail(10)).toEqual([]);
    await view.close();
  });
});

test("a worker that has the tool takes the tree while one without it goes on working", async () => {
  const database = await createDatabase();
  onTestFinished(() => database.drop());
  const tree = await leftBehind(database.url);
  const lacking = await openWith(database.url, [other], { onNotice: () => {} });
  await until(async () => (await rowOf(database.url, tree))?.unplaced !== null);
  const able = await openWith(database.url, [press, other]);
  const reply = await (await lacking.agent(tree)).postAndAwait("go", { id: "go" });
  expect(reply.text).toBe("Done.");
  // What is asked of the process without the tool is handed on to the one that has it.
  const more = await openWith(database.url, [other], { recover: false, onNotice: () => {} });
  expect((await (await more.agent(tree)).postAndAwait("again")).text).toBe("Heard.");
  expect((await able.replay(tree)).difference).toBeNull();
});

test("a tree whose time has come is not read again and again by a process that lacks its tool", async () => {
  const store = join(temporaryFolder(), "errand.db");
  const tree = await leftBehind(store);
  const held = await openStoreAt(store, "own");
  const claims = vi.fn(held.claim.bind(held));
  const counted = { ...held, claim: claims, due: async () => [asTreeId(tree)], nextWake: async () => 0 };
  const lacking = await openWith(store, [other], { store: counted, onNotice: () => {} });
  await sleep(500);
  for (let times = 0; times < 20; times += 1)
    await expect((await lacking.agent(tree)).post("x")).rejects.toMatchObject({ code: "tree-unplaced" });
  expect(claims).toHaveBeenCalledTimes(1);
});

test("what counts is the definition that is in force here", async () => {
  const store = join(temporaryFolder(), "errand.db");
  const tree = await leftBehind(store);
  const renewing = await openWith(store, [other], { renewDefinitions: true });
  await eventsUntil(renewing, tree, turnsEnded(1));
  expect(await rowOf(store, tree)).toMatchObject({ unplaced: null });
  expect(await renewing.replay(tree)).toMatchObject({ difference: null, foreign: [] });
});

test("`errand ps` names what an unplaced tree lacks", async () => {
  const { folder, remove } = projectFolder();
  onTestFinished(remove);
  const store = join(temporaryFolder(), "errand.db");
  const tree = await leftBehind(store);
  const lacking = await openWith(store, [other], { onNotice: () => {} });
  await until(async () => (await rowOf(store, tree))?.unplaced !== null);
  const shown = await runErrand(["ps", "--store", store], { folder });
  expect(shown.out).toMatch(/\bunplaced\b/);
  expect(shown.err).toContain(`${tree.slice(-6)} is unplaced: `);
  expect(shown.err).toContain('the tool "press"');
  const listed = await runErrand(["ps", "--json", "--store", store], { folder });
  expect(JSON.parse(listed.out)).toMatchObject({ state: "unplaced", unplaced: expect.stringContaining("press") });
  await lacking.close();
});
