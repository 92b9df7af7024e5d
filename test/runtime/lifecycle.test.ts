import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { byContext, callTool, createMemoryChannel, hang, say } from "../../src/testing/index.ts";
import { createMemoryStore } from "../../src/stores/memory/memory-store.ts";
import { openSqliteStore } from "../../src/stores/sqlite/sqlite-store.ts";
import { asTreeId } from "../../src/core/values/ids.ts";
import { eventsUntil, lookTool, openTestErrand, temporaryFolder, turnsEnded } from "../support/test-errand.ts";

const reporting = byContext([callTool("send_agent_message", { text: "found it" }), say("done")]);

test("idle trees leave memory and are as they were when they are woken", async () => {
  const { errand } = await openTestErrand({ parent: (_request, { replies }) => say(`answer ${replies + 1}`) });
  const agents = [];
  for (let count = 0; count < 100; count += 1) {
    const agent = await errand.openAgent();
    await agent.postAndAwait("hello");
    agents.push(agent);
  }
  expect(errand.treesInMemory()).toBeLessThanOrEqual(40);
  expect((await agents[0]?.postAndAwait("still there?"))?.text).toBe("answer 2");
});

test("whoever closes is heard also amid steps that follow one another without any I/O: nothing more is begun", async () => {
  let ran = 0;
  let closed = Promise.resolve();
  const tool = lookTool(async () => {
    ran += 1;
    if (ran === 3) closed = errand.close({ withinMs: 0 });
    return { text: "saw it", failed: false };
  }, false);
  const { errand } = await openTestErrand({ parent: () => callTool("look", {}) }, { tools: [tool] });
  const { reply } = await errand.start("go");
  await expect(reply()).rejects.toMatchObject({ code: "store-closed" });
  await closed;
  expect(ran).toBe(3);
});

test("what a closed process left under way is taken up by the next one, and answered once", async () => {
  const store = join(temporaryFolder(), "errand.db");
  const parent = [callTool("start_background_agent", { task: "slow" }), say("started")];
  const first = await openTestErrand({ parent, child: [hang()] }, { store });
  const agent = await first.errand.openAgent();
  await agent.postAndAwait("go");
  await first.errand.close({ withinMs: 0 });
  const channel = createMemoryChannel();
  const second = await openTestErrand({ parent: [say("It is done.")], child: reporting }, { store });
  expect(second.errand.recovered).toBe(1);
  const again = await second.errand.agent(agent.id, { channel });
  expect((await channel.received(2)).at(-1)?.text).toBe("It is done.");
  const [run] = await second.errand.listRuns();
  expect(run).toMatchObject({ state: "ended", status: "ok", delivery: "placed" });
  expect(again.id).toBe(agent.id);
});

test("whoever waits for an answer when the process closes is told so, and is answered by the next one", async () => {
  const store = join(temporaryFolder(), "errand.db");
  const first = await openTestErrand({ parent: [hang()] }, { store });
  const { agent, id, reply } = await first.errand.start("go");
  const waited = reply();
  await first.errand.close({ withinMs: 0 });
  await expect(waited).rejects.toMatchObject({
    code: "store-closed",
    message: "Errand was closed before the answer came.",
  });
  const second = await openTestErrand({ parent: [say("here it is")] }, { store });
  const again = await second.errand.agent(agent.id);
  expect((await again.postAndAwait("go", { id })).text).toBe("here it is");
});

test("I23: a tool that is not safe to repeat is not run again after a crash; the model is told its outcome is unknown", async () => {
  const store = join(temporaryFolder(), "errand.db");
  let ran = 0;
  const tool = lookTool(() => {
    ran += 1;
    return new Promise(() => {});
  }, false);
  const script = byContext([callTool("look", {}), say("I see.")]);
  const first = await openTestErrand({ parent: script }, { store, tools: [tool] });
  const agent = await first.errand.openAgent();
  const { id } = await agent.post("go");
  await eventsUntil(first.errand, agent.id, (event) => event.facts.some((fact) => fact.type === "tool-called"));
  await first.errand.close({ withinMs: 0 });
  const second = await openTestErrand({ parent: script }, { store, tools: [tool] });
  const reply = await (await second.errand.agent(agent.id)).postAndAwait("go", { id });
  expect(reply.text).toBe("I see.");
  expect(ran).toBe(1);
  const result = second.models.requests.at(-1)?.messages.at(-1);
  expect(result?.role === "tool" ? result.results[0]?.text : "").toContain("outcome unknown");
});

test("another process puts mail while the owner runs, and the owner takes it", async () => {
  const store = join(temporaryFolder(), "errand.db");
  const { errand } = await openTestErrand({ parent: (_request, { newest }) => say(`heard: ${newest}`) }, { store });
  const agent = await errand.openAgent();
  const program = `
    import { openSqliteStore } from ${JSON.stringify(join(process.cwd(), "src/stores/sqlite/sqlite-store.ts"))};
    const store = openSqliteStore({ path: ${JSON.stringify(store)}, access: "read" });
    const payload = JSON.stringify({
      input: { type: "message-posted", id: "mail-1", to: 0, kind: "user", size: 2 }, texts: ["hi from outside"] });
    const put = await store.putMail({ tree: ${JSON.stringify(agent.id)}, id: "mail-1", hash: "AAAA", payload });
    await store.close();
    console.log(put.status);
  `;
  const put = spawnSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8" });
  expect([put.stdout.trim(), put.status]).toEqual(["put", 0]);
  const events = await eventsUntil(errand, agent.id, turnsEnded(1));
  const posted = events.flatMap((event) => event.facts).filter((fact) => fact.type === "message-posted");
  expect(posted).toHaveLength(1);
  expect(JSON.stringify(events.at(-1)?.texts)).toContain("heard: hi from outside");
});

test("a deadline is kept across a restart, counted from the run's start", async () => {
  const store = join(temporaryFolder(), "errand.db");
  const parent = [
    callTool("start_background_agent", { task: "slow", timeout_seconds: 1 }),
    say("started"),
    say("It timed out."),
  ];
  const first = await openTestErrand({ parent, child: [hang()] }, { store });
  const agent = await first.errand.openAgent();
  await agent.postAndAwait("go");
  await first.errand.close({ withinMs: 0 });
  const channel = createMemoryChannel();
  const second = await openTestErrand({ parent: [say("It timed out.")], child: [hang()] }, { store });
  await second.errand.agent(agent.id, { channel });
  await channel.received(2);
  const [run] = await second.errand.listRuns();
  expect(run).toMatchObject({ status: "timeout", reason: "deadline" });
  const elapsed = (run?.endedAt ?? 0) - (run?.startedAt ?? 0);
  expect(elapsed).toBeGreaterThanOrEqual(1_000);
  expect(elapsed).toBeLessThan(10_000);
});

test("closing takes no new work, lets what is under way finish within the bound, and parks the rest", async () => {
  let finish = (): void => {};
  const slow = lookTool(
    () =>
      new Promise((resolve) => {
        finish = () => resolve({ text: "seen", failed: false });
      }),
  );
  const path = join(temporaryFolder(), "errand.db");
  const { errand } = await openTestErrand(
    { parent: byContext([callTool("look", {}), say("end")]) },
    { store: path, tools: [slow] },
  );
  const agent = await errand.openAgent();
  await agent.post("go");
  await eventsUntil(errand, agent.id, (event) => event.facts.some((fact) => fact.type === "tool-called"));
  const closed = errand.close({ withinMs: 60_000 });
  await expect(agent.post("more")).rejects.toMatchObject({ code: "shutting-down" });
  finish();
  await closed;
  const store = openSqliteStore({ path, access: "read" });
  const rows = await store.rows(asTreeId(agent.id), 1, 100);
  expect(rows.at(-1)?.head).toContain('"tool-finished"');
  expect((await store.tree(asTreeId(agent.id)))?.busy).toBe(true);
  await store.close();
});

test("a tree that cannot be loaded stops alone, and is quarantined after three failures", async () => {
  const store = createMemoryStore();
  const { errand } = await openTestErrand(
    { parent: () => say("fine") },
    { store: { ...store, close: async () => {} } },
  );
  const broken = await errand.openAgent();
  const healthy = await errand.openAgent();
  await errand.close();
  const failures: unknown[] = [];
  const damaged = {
    ...store,
    rows: async (tree: string, from: number, limit: number) => {
      const rows = await store.rows(asTreeId(tree), from, limit);
      return tree === broken.id ? rows.map((row) => ({ ...row, head: `${row.head.slice(0, -1)}x` })) : rows;
    },
    close: async () => {},
  };
  const second = await openTestErrand(
    { parent: () => say("fine") },
    { store: damaged, onFailure: (error) => failures.push(error) },
  );
  for (let count = 0; count < 3; count += 1)
    await expect((await second.errand.agent(broken.id)).postAndAwait("hello")).rejects.toThrow();
  await expect((await second.errand.agent(broken.id)).postAndAwait("hello")).rejects.toMatchObject({
    code: "tree-quarantined",
  });
  expect((await (await second.errand.agent(healthy.id)).postAndAwait("hello")).text).toBe("fine");
});

test("never more runs under way than the process has slots; the rest wait and are not lost", async () => {
  let under = 0;
  let most = 0;
  const child = async (): Promise<ReturnType<typeof say>> => {
    under += 1;
    most = Math.max(most, under);
    await new Promise((resolve) => setTimeout(resolve, 2));
    under -= 1;
    return callTool("send_agent_message", { text: "ok" });
  };
  const { errand } = await openTestErrand(
    {
      parent: byContext([callTool("subagent", { task: "x" }), say("done")]),
      child: (_request, at) => (at.replies === 0 ? child() : say("end")),
    },
    { slots: 2 },
  );
  const agents = await Promise.all(Array.from({ length: 20 }, () => errand.openAgent()));
  const replies = await Promise.all(agents.map((agent) => agent.postAndAwait("go")));
  expect(replies.map((reply) => reply.text)).toEqual(Array.from({ length: 20 }, () => "done"));
  expect(most).toBe(2);
});

test("an answer that is asked for after closing is refused at once, though its turn was under way", async () => {
  const store = join(temporaryFolder(), "errand.db");
  const { errand } = await openTestErrand({ parent: () => hang() }, { store });
  const { reply } = await errand.start("go");
  await errand.close({ withinMs: 0 });
  await expect(reply()).rejects.toMatchObject({ code: "store-closed" });
});
