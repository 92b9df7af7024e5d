/** One call for one job: `errand.run`, `agent.ask`, `agent.settled`, streams and keys. */

import { join } from "node:path";
import { expect, test } from "vitest";
import type { StandardSchema, StreamEvent } from "../../src/index.ts";
import {
  byContext,
  callTool,
  callTools,
  createMemoryChannel,
  fail,
  hang,
  say,
  type Script,
} from "../../src/testing/index.ts";
import { gate, report } from "../support/scripted-replies.ts";
import { openTestErrand, temporaryFolder } from "../support/test-errand.ts";
import { createTestWorld } from "../support/test-world.ts";

const backgroundParent: Script = byContext([
  callTools([
    { name: "start_background_agent", input: { task: "one" } },
    { name: "start_background_agent", input: { task: "two" } },
  ]),
  say("I asked two children."),
  say("Both are done."),
]);

/** As zod 4 and others offer it. */
const city: StandardSchema<{ readonly city: string }> = {
  "~standard": {
    validate: (value) =>
      typeof value === "object" && value !== null && "city" in value && typeof value.city === "string"
        ? { value: { city: value.city } }
        : { issues: [{ message: "a city is missing", path: ["city"] }] },
    jsonSchema: {
      input: () => ({ type: "object", properties: { city: { type: "string" } }, required: ["city"] }),
    },
  },
};

test("run waits for children and announcements, and gives all messages, usage and runs", async () => {
  const { errand } = await openTestErrand({
    parent: backgroundParent,
    child: byContext([report("found"), say("end")]),
  });
  const result = await errand.run("go");
  expect(result.text).toBe("I asked two children.\n\nBoth are done.");
  expect(result.messages.map(({ kind, text }) => [kind, text])).toEqual([
    ["answer", "I asked two children."],
    ["answer", "Both are done."],
  ]);
  expect(result.runs.map(({ state, name }) => [state, name])).toEqual([
    ["ended", "one"],
    ["ended", "two"],
  ]);
  expect(result.usage.input).toBeGreaterThan(0);
  expect(result.data).toBeUndefined();
  expect((await errand.replay(result.tree)).difference).toBeNull();
});

test("run rejects when the turn fails, and names the tree", async () => {
  const { errand } = await openTestErrand({ parent: () => fail() });
  await expect(errand.run("go")).rejects.toMatchObject({ code: "turn-failed" });
});

test("run rejects when a later announcement turn fails", async () => {
  const parent: Script = (_request, { replies }) =>
    [callTool("start_background_agent", { task: "one" }), say("started")][replies] ?? fail();
  const world = createTestWorld();
  const { errand } = await openTestErrand({ parent, child: byContext([report("found"), say("end")]) }, { world });
  const rejected = expect(errand.run("go")).rejects.toMatchObject({ code: "turn-failed" });
  await world.advance(60_000);
  await rejected;
});

test("with output one run of the agent is the task: typed data, no other model, nothing announced", async () => {
  const { errand, models } = await openTestErrand({
    parent: () => fail(),
    child: byContext([callTool("send_agent_message", { text: "It is Rome.", data: { city: "Rome" }, final: true })]),
  });
  const { data, text, runs, tree } = await errand.run("Where?", { output: city });
  expect(data.city).toBe("Rome");
  expect(text).toBe("It is Rome.");
  expect(runs).toHaveLength(1);
  expect(runs[0]).toMatchObject({ delivery: "returned", status: "ok" });
  expect(models.model("scripted/parent").requests).toHaveLength(0);
  expect(models.model("scripted/child").requests).toHaveLength(1);
  expect((await errand.replay(tree)).difference).toBeNull();
});

test("with output the depth is counted from the run: its agent may delegate", async () => {
  const child: Script = (_request, { task, replies }) =>
    task !== "outer"
      ? report("inner", { final: true })
      : replies === 0
        ? callTool("subagent", { task: "inner" })
        : callTool("send_agent_message", { text: "x", data: { city: "Rome" }, final: true });
  const { errand } = await openTestErrand({ parent: () => fail(), child });
  const { runs } = await errand.run("outer", { output: city });
  expect(runs.map(({ name, status }) => [name, status])).toEqual([
    ["outer", "ok"],
    ["inner", "ok"],
  ]);
});

test("with output a run that fails or reports no data rejects with run-failed", async () => {
  const { errand } = await openTestErrand({ parent: () => fail(), child: byContext([say("I forgot"), say("again")]) });
  await expect(errand.run("Where?", { output: city })).rejects.toMatchObject({ code: "run-failed" });
  const failing = await openTestErrand({ parent: () => fail(), child: () => fail() });
  await expect(failing.errand.run("Where?", { output: city })).rejects.toMatchObject({ code: "run-failed" });
});

test("a key gives the same task again, also in a later process, and refuses other content", async () => {
  const store = join(temporaryFolder(), "errand.db");
  const scripts = { parent: byContext([say("done")]) };
  const first = await openTestErrand(scripts, { store });
  const one = await first.errand.run("go", { key: "order 7" });
  const again = await first.errand.run("go", { key: "order 7" });
  expect(again).toEqual(one);
  await expect(first.errand.run("go elsewhere", { key: "order 7" })).rejects.toMatchObject({ code: "id-reused" });
  await expect(first.errand.run("go", { key: "order 7", agent: "worker" })).rejects.toMatchObject({
    code: "id-reused",
  });
  expect(first.models.model("scripted/parent").requests).toHaveLength(1);
  await first.errand.close();
  const second = await openTestErrand({ parent: () => fail() }, { store });
  expect(await second.errand.run("go", { key: "order 7" })).toEqual(one);
  expect(await second.errand.listTrees()).toHaveLength(1);
});

test("two callers with one key at the same time share one task", async () => {
  const { errand, models } = await openTestErrand({ parent: byContext([say("done")]) });
  const [one, two] = await Promise.all([errand.run("go", { key: "k" }), errand.run("go", { key: "k" })]);
  expect(two).toEqual(one);
  expect(models.model("scripted/parent").requests).toHaveLength(1);
});

test("two callers with one key and different agents at the same time: one of them is refused", async () => {
  const { errand } = await openTestErrand({ parent: byContext([say("done")]), child: byContext([say("done")]) });
  const both = await Promise.allSettled([
    errand.openAgent({ key: "k" }),
    errand.openAgent({ key: "k", agent: "worker" }),
  ]);
  expect(both.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
  expect(both[1]).toMatchObject({ reason: { code: "id-reused" } });
});

test("a task of a conversation that went on has the same result as before", async () => {
  const { errand } = await openTestErrand({
    parent: byContext([say("first"), callTool("subagent", { task: "look" }), say("second")]),
    child: byContext([report("found"), say("end")]),
  });
  const one = await errand.run("go", { key: "k" });
  const agent = await errand.openAgent({ key: "k" });
  expect((await agent.ask("go on")).runs).toHaveLength(1);
  expect(await errand.run("go", { key: "k" })).toEqual(one);
});

test("start and openAgent with a key find the conversation again", async () => {
  const { errand } = await openTestErrand({ parent: byContext([say("hello")]) });
  const opened = await errand.openAgent({ key: "user 1" });
  expect((await errand.openAgent({ key: "user 1" })).id).toBe(opened.id);
  await expect(errand.openAgent({ key: "user 1", agent: "worker" })).rejects.toMatchObject({ code: "id-reused" });
  const started = await errand.start("hi", { key: "user 2" });
  const same = await errand.start("hi", { key: "user 2" });
  expect(same.agent.id).toBe(started.agent.id);
  expect((await same.reply()).text).toBe("hello");
  await expect(errand.start("ho", { key: "user 2" })).rejects.toMatchObject({ code: "id-reused" });
});

test("a key that is refused leaves the conversation's channel as it is", async () => {
  const going = gate();
  const { errand } = await openTestErrand({
    parent: byContext([callTool("start_background_agent", { task: "one" }), say("started"), say("it is done")]),
    child: async (_request, { replies }) => {
      await going.passed;
      return replies === 0 ? report("found") : say("end");
    },
  });
  const channel = createMemoryChannel();
  const agent = await errand.openAgent({ key: "user 1", channel });
  await agent.postAndAwait("go");
  await expect(errand.run("other", { key: "user 1", agent: "worker" })).rejects.toMatchObject({ code: "id-reused" });
  const other = createMemoryChannel();
  const start = errand.start("other", { key: "user 1", agent: "worker", channel: other });
  await expect(start).rejects.toMatchObject({ code: "id-reused" });
  going.open();
  expect((await channel.received(2)).map(({ text }) => text)).toEqual(["started", "it is done"]);
  expect(other.messages).toEqual([]);
});

test("an aborted signal cancels the tree and rejects with its reason", async () => {
  const { errand } = await openTestErrand({ parent: () => hang() });
  const controller = new AbortController();
  const running = errand.run("go", { signal: controller.signal, onEvent: () => controller.abort(new Error("enough")) });
  await expect(running).rejects.toThrow("enough");
  const [tree] = await errand.listTrees();
  expect(tree?.busy).toBe(false);
  const aborted = AbortSignal.abort(new Error("before"));
  await expect(errand.run("go", { signal: aborted })).rejects.toThrow("before");
  expect(await errand.listTrees()).toHaveLength(1);
});

test("ask gives what came of one message, and settled waits for rest", async () => {
  const { errand } = await openTestErrand({
    parent: byContext([
      say("first"),
      callTool("start_background_agent", { task: "one" }),
      say("started"),
      say("it found something"),
    ]),
    child: byContext([report("found"), say("end")]),
  });
  const agent = await errand.openAgent();
  expect(await agent.ask("hi")).toMatchObject({ text: "first", runs: [] });
  const second = await agent.ask("go");
  expect(second.text).toBe("started\n\nit found something");
  expect(second.messages).toHaveLength(2);
  expect(second.runs).toHaveLength(1);
  await agent.settled();
});

test("a stream gives readable events in order, live text, and rest; a cursor resumes it", async () => {
  const { errand } = await openTestErrand({
    parent: backgroundParent,
    child: byContext([report("found"), say("end")]),
  });
  const stream = errand.stream("go", { key: "k" });
  const events: StreamEvent[] = [];
  for await (const event of stream) events.push(event);
  const types = events.map(({ type }) => type);
  expect(types[0]).toBe("agent-opened");
  expect(types.at(-1)).toBe("rest");
  for (const type of ["run-created", "run-started", "run-reported", "run-ended", "message", "usage", "text"])
    expect(types).toContain(type);
  expect((await stream.result).text).toBe("I asked two children.\n\nBoth are done.");
  const placed = events.filter((event) => "cursor" in event);
  const middle = placed[3];
  const rest: StreamEvent[] = [];
  for await (const event of errand.stream("go", { key: "k", after: middle?.cursor ?? "" })) rest.push(event);
  expect(rest).toEqual([...placed.slice(4), { type: "rest", tree: expect.any(String) as string }]);
  await expect(errand.run("go", { onEvent: () => undefined })).resolves.toBeDefined();
});

test("server-sent events carry the cursor as id, and a failure as its own event", async () => {
  const { errand } = await openTestErrand({ parent: byContext([say("done")]) });
  const response = errand.stream("go").toResponse();
  expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
  const text = await response.text();
  expect(text).toMatch(/^id: 1\.0\nevent: agent-opened\ndata: \{/);
  expect(text).toContain('"type":"rest"');
  const failing = await openTestErrand({ parent: () => fail() });
  const failed = await failing.errand.stream("go").toResponse().text();
  expect(failed).toContain('event: error\ndata: {"type":"error","code":"turn-failed"');
});

test("a wrong cursor and an empty key are refused with what to do", async () => {
  const { errand } = await openTestErrand({ parent: byContext([say("done")]) });
  await expect(errand.run("go", { key: "" })).rejects.toMatchObject({ code: "usage" });
  const stream = errand.stream("go", { after: "seven" });
  await expect(stream[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: "usage" });
});

test("a stream that is left early ends its reader and says so in its result", async () => {
  const { errand } = await openTestErrand({ parent: byContext([say("done")]) });
  const stream = errand.stream("go");
  const events = stream[Symbol.asyncIterator]();
  await events.next();
  await events.return?.();
  await expect(stream.result).rejects.toMatchObject({ code: "usage" });
});
