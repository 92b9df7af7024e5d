import { expect, test } from "vitest";
import { byContext, callTool, callTools, createMemoryChannel, say } from "../../src/testing/index.ts";
import { createMemoryStore } from "../../src/stores/memory/memory-store.ts";
import { ErrandError, type Store } from "../../src/index.ts";
import { eventsUntil, lookTool, openTestErrand, turnsEnded } from "../support/test-errand.ts";

const reportingChild = byContext([
  callTool("look", {}),
  callTool("send_agent_message", { text: "found it" }),
  say("done"),
]);

test("an awaited delegation takes 7 commits, from the post to the answer, and 2 of them wait for the disk", async () => {
  const store = createMemoryStore();
  let commits: ("waits" | "trails")[] = [];
  const counting: Store = {
    ...store,
    commit(commit) {
      commits.push(commit.deferFsync === true ? "trails" : "waits");
      return store.commit(commit);
    },
  };
  // Posted; spawned, looked up, seen, reported, ended; answered.
  const expected = ["waits", "trails", "trails", "trails", "trails", "trails", "waits"];
  const parent = byContext([callTool("subagent", { task: "find it" }), say("It is found.")]);
  const { errand } = await openTestErrand({ parent, child: reportingChild }, { store: counting });
  const agent = await errand.openAgent();
  commits = [];
  const reply = await agent.postAndAwait("please find it");
  expect(reply).toEqual({ text: "It is found.", silent: false });
  expect(commits).toEqual(expected);
  commits = [];
  // A conversation that is started with its message takes no commit more.
  expect((await (await errand.start("please find it")).reply()).text).toBe("It is found.");
  expect(commits).toEqual(expected);
});

test("a conversation is started with its message, as any definition, and its answer is there under the message's id", async () => {
  const channel = createMemoryChannel();
  const { errand } = await openTestErrand({ parent: [say("heard")], child: [say("as a worker")] });
  const { agent, id, reply } = await errand.start("hello", { channel });
  expect(await reply()).toEqual({ text: "heard", silent: false });
  expect((await channel.received(1)).map(({ text, repeated }) => [text, repeated])).toEqual([["heard", false]]);
  expect((await agent.postAndAwait("hello", { id })).text).toBe("heard");
  await expect(agent.post("other words", { id })).rejects.toMatchObject({ code: "id-reused" });
  const other = await errand.start("hello", { agent: "worker", kind: "background" });
  expect((await other.reply()).text).toBe("as a worker");
  expect((await errand.listTrees()).map(({ kind }) => kind).toSorted()).toEqual(["background", "foreground"]);
  await expect(errand.start("")).rejects.toMatchObject({ code: "usage" });
  await expect(errand.start("hello", { agent: "nobody" })).rejects.toMatchObject({ code: "definition-unknown" });
});

test.each([
  { fails: "before the commit", durable: false },
  { fails: "after the commit", durable: true },
])(
  "a conversation whose first commit fell silent $fails is there with its message, or not at all",
  async ({ durable }) => {
    const store = createMemoryStore();
    let silent = false;
    const falling = {
      ...store,
      async commit(commit: Parameters<typeof store.commit>[0]) {
        if (!silent) return store.commit(commit);
        silent = false;
        if (durable) await store.commit(commit);
        throw new ErrandError("commit-unknown", "The store fell silent.");
      },
    };
    const { errand } = await openTestErrand({ parent: () => say("heard") }, { store: falling });
    silent = true;
    const started = errand.start("hello");
    if (durable) expect((await (await started).reply()).text).toBe("heard");
    else await expect(started).rejects.toMatchObject({ code: "commit-unknown" });
    silent = true;
    const opened = errand.openAgent();
    if (durable) expect((await (await opened).postAndAwait("hello")).text).toBe("heard");
    else await expect(opened).rejects.toMatchObject({ code: "commit-unknown" });
    expect(await errand.listTrees()).toHaveLength(durable ? 2 : 0);
  },
);

test("background children report, one announcement arrives, and the agent answers through its channel", async () => {
  const channel = createMemoryChannel();
  const { errand, models } = await openTestErrand({
    parent: byContext([
      callTools([
        { name: "start_background_agent", input: { task: "one", label: "first" } },
        { name: "start_background_agent", input: { task: "two" } },
      ]),
      say("I have started two."),
      say("Both are done."),
    ]),
    child: reportingChild,
  });
  const agent = await errand.openAgent({ channel });
  expect((await agent.postAndAwait("do both")).text).toBe("I have started two.");
  const messages = await channel.received(2);
  expect(messages.map((message) => message.text)).toEqual(["I have started two.", "Both are done."]);
  const announcements = models.model("scripted/parent").requests.at(-1)?.messages.at(-1);
  const text = announcements?.role === "user" ? announcements.text : "";
  expect(text.indexOf('### Task 1: "first"')).toBeGreaterThan(0);
  expect(text.indexOf('### Task 2: "two"')).toBeGreaterThan(text.indexOf('### Task 1: "first"'));
  expect(text.match(/found it/g)).toHaveLength(2);
  const runs = await errand.listRuns();
  expect(runs.map(({ state, status, report, delivery }) => ({ state, status, report, delivery }))).toEqual([
    { state: "ended", status: "ok", report: "tool", delivery: "placed" },
    { state: "ended", status: "ok", report: "tool", delivery: "placed" },
  ]);
  expect(await errand.result(runs[0]?.id ?? "")).toBe("found it");
});

test("events of a tree come in order from any point on, those to come included", async () => {
  const { errand } = await openTestErrand({ parent: byContext([say("one"), say("two")]) });
  const agent = await errand.openAgent();
  await agent.postAndAwait("first");
  const later = eventsUntil(errand, agent.id, turnsEnded(2));
  await agent.postAndAwait("second");
  const events = await later;
  expect(events.map((event) => event.seq)).toEqual(events.map((_, index) => index + 1));
  const tail: number[] = [];
  for await (const event of errand.journal(agent.id, { after: 2 })) {
    tail.push(event.seq);
    if (event.seq === events.length) break;
  }
  expect(tail[0]).toBe(3);
});

test("a reader of events gets every row of a long journal without another one having to come", async () => {
  const { errand } = await openTestErrand({ parent: () => say("fine") });
  const agent = await errand.openAgent();
  for (let count = 0; count < 120; count += 1) await agent.postAndAwait("hello");
  const events = await eventsUntil(errand, agent.id, turnsEnded(120));
  expect(events.map((event) => event.seq)).toEqual(events.map((_, index) => index + 1));
});

test("a failed turn rejects with its reason, and the conversation goes on", async () => {
  const { errand } = await openTestErrand({
    parent: [{ kind: "failure", code: "provider-error", message: "no credit", retryable: false }, say("better")],
  });
  const agent = await errand.openAgent();
  await expect(agent.postAndAwait("hello")).rejects.toMatchObject({
    code: "turn-failed",
    details: { reason: "provider-error" },
  });
  expect((await agent.postAndAwait("again")).text).toBe("better");
});

test("a message posted again under its id is taken once; other content under the id is refused", async () => {
  const { errand, models } = await openTestErrand({ parent: byContext([say("one"), say("two")]) });
  const agent = await errand.openAgent();
  const [first, same] = await Promise.all([
    agent.postAndAwait("hello", { id: "m-1" }),
    agent.postAndAwait("hello", { id: "m-1" }),
  ]);
  expect([first.text, same.text, (await agent.postAndAwait("hello", { id: "m-1" })).text]).toEqual([
    "one",
    "one",
    "one",
  ]);
  expect(models.requests).toHaveLength(1);
  await expect(agent.postAndAwait("other", { id: "m-1" })).rejects.toMatchObject({ code: "id-reused" });
  // Other content that is refused does not keep the first from being asked for again meanwhile.
  const [other, again] = await Promise.allSettled([
    agent.post("other", { id: "m-1" }),
    agent.post("hello", { id: "m-1" }),
  ]);
  expect([other.status, again.status]).toEqual(["rejected", "fulfilled"]);
});

test("an unknown definition, agent or run is an error with a code", async () => {
  const { errand } = await openTestErrand({ parent: [] });
  await expect(errand.openAgent({ agent: "nobody" })).rejects.toMatchObject({ code: "definition-unknown" });
  await expect(errand.agent("0198c0de-0000-7000-8000-000000000000")).rejects.toMatchObject({ code: "agent-unknown" });
  await expect(errand.getRun("not-an-id")).rejects.toMatchObject({ code: "run-unknown" });
  const agent = await errand.openAgent();
  await expect(agent.post("")).rejects.toMatchObject({ code: "usage" });
});

test("a model of the user's own need not say what it used", async () => {
  const reply = { parts: [{ type: "text", text: "heard" }], stop: "end" } as never;
  const { errand } = await openTestErrand(
    { parent: [] },
    { models: [{ resolve: () => ({ model: { call: async () => reply }, facts: { window: null, price: null } }) }] },
  );
  expect((await (await errand.start("go")).reply()).text).toBe("heard");
});

test("a model of the user's own that gives a reply that is none has failed, and whoever waits is told", async () => {
  const reply = { parts: [{ type: "tool-call", id: "c", name: "look" }], usage: null, stop: "tools" } as never;
  const { errand } = await openTestErrand(
    { parent: [] },
    { models: [{ resolve: () => ({ model: { call: async () => reply }, facts: { window: null, price: null } }) }] },
  );
  const { reply: answered } = await errand.start("go");
  await expect(answered()).rejects.toMatchObject({ code: "turn-failed", details: { reason: "provider-error" } });
});

test("a tool of the user's own that gives no result has failed, and its model is told", async () => {
  const nothing = lookTool((async () => undefined) as never);
  const parent = byContext([callTool("look", {}), say("so be it")]);
  const { errand, models } = await openTestErrand({ parent }, { tools: [nothing] });
  expect((await (await errand.start("go")).reply()).text).toBe("so be it");
  const last = models.requests.at(-1)?.messages.at(-1);
  expect(last).toMatchObject({ role: "tool", results: [{ text: "Error: look gave no result", failed: true }] });
});
