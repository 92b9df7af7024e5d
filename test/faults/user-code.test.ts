/**
 * Code of the user that misbehaves: tools that change their arguments, listeners that throw, names that clash, values
 * that are no errors.
 */

import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { createErrand, type ErrandError, type ModelProvider, type TextDelta, type Tool } from "../../src/index.ts";
import { callTool, createScriptedModels, say } from "../../src/testing/index.ts";
import { errorText } from "../../src/errors.ts";
import { lookTool, openTestErrand } from "../support/test-errand.ts";

test("a tool that changes its arguments changes nothing that is recorded", async () => {
  const change = (input: unknown): void => {
    if (typeof input === "object" && input !== null && "list" in input && Array.isArray(input.list))
      input.list.push("added");
  };
  const tool: Tool = {
    ...lookTool(async (input) => {
      change(input);
      return { text: "saw it", failed: false };
    }),
    check(input) {
      change(input);
      return null;
    },
  };
  const { errand, models } = await openTestErrand(
    { parent: [callTool("look", { list: ["given"] }), say("done")] },
    { tools: [tool] },
  );
  const agent = await errand.openAgent();
  await agent.postAndAwait("look");
  expect(JSON.stringify(models.requests.at(-1)?.messages)).not.toContain("added");
  expect(await errand.replay(agent.id)).toMatchObject({ difference: null });
});

test("a schema that changes the data it checks changes nothing that is recorded", async () => {
  const output = {
    "~standard": {
      validate(value: unknown) {
        if (typeof value === "object" && value !== null) Object.assign(value, { self: value, count: Number.NaN });
        return { value };
      },
      jsonSchema: { input: () => ({ type: "object" }) },
    },
  };
  const { errand, models } = await openTestErrand(
    {
      parent: [callTool("subagent", { task: "count" }), say("done")],
      child: [callTool("send_agent_message", { text: "counted", data: { count: 7 }, final: true })],
    },
    { child: { output } },
  );
  const agent = await errand.openAgent();
  await agent.postAndAwait("go");
  expect(JSON.stringify(models.requests.at(-1)?.messages)).toContain('\\"count\\":7');
  expect(await errand.replay(agent.id)).toMatchObject({ difference: null });
});

test("a model that changes its request does not change the context", async () => {
  const scripted = createScriptedModels({ "scripted/parent": [say("one"), say("two")], "scripted/child": [] });
  const models: ModelProvider = {
    resolve(name) {
      const found = scripted.resolve(name);
      if ("unavailable" in found) return found;
      const call: typeof found.model.call = (request, options) => {
        const reply = found.model.call(request, options);
        if (Array.isArray(request.messages)) request.messages.length = 0;
        if (Array.isArray(request.tools)) request.tools.length = 0;
        return reply;
      };
      return { ...found, model: { call } };
    },
  };
  const { errand } = await openTestErrand({ parent: [] }, { models: [models] });
  const agent = await errand.openAgent();
  await agent.postAndAwait("first");
  await agent.postAndAwait("second");
  expect(await errand.replay(agent.id)).toMatchObject({ difference: null });
});

test("a listener that throws or rejects is reported once, and the others are told", async () => {
  const failures: ErrandError[] = [];
  const { errand } = await openTestErrand(
    { parent: [say("hello there"), say("hello again")] },
    { onFailure: (error) => void failures.push(error) },
  );
  const heard: string[] = [];
  errand.onText(() => {
    throw new Error("broken");
  });
  const asynchronous: (delta: TextDelta) => unknown = () => Promise.reject(new Error("rejected"));
  errand.onText(asynchronous);
  errand.onText(({ text }) => void heard.push(text));
  const agent = await errand.openAgent();
  expect((await agent.postAndAwait("1")).text).toBe("hello there");
  expect((await agent.postAndAwait("2")).text).toBe("hello again");
  expect(heard.join("")).toBe("hello therehello again");
  expect(failures.map(({ code }) => code)).toEqual(["listener-failed", "listener-failed"]);
});

test("a promise of another realm that a listener gives may reject, and so may a thenable", async () => {
  const failures: ErrandError[] = [];
  const { errand } = await openTestErrand(
    { parent: [say("hello")] },
    { onFailure: (error) => void failures.push(error) },
  );
  errand.onText(runInNewContext("() => Promise.reject(new Error('of another realm'))") as () => void);
  // oxlint-disable-next-line unicorn/no-thenable
  errand.onText(() => ({ then: (_: unknown, reject: (error: Error) => void) => reject(new Error("thenable")) }));
  await (await errand.openAgent()).postAndAwait("1");
  await expect.poll(() => failures.map(({ code }) => code)).toEqual(["listener-failed", "listener-failed"]);
});

test("an onDelegation listener that throws or changes its record does not touch the others", async () => {
  const failures: string[] = [];
  const { errand } = await openTestErrand(
    { parent: [callTool("subagent", { task: "look" }), say("done")], child: [say("child")] },
    { onFailure: ({ code }) => void failures.push(code) },
  );
  const told: string[] = [];
  errand.onDelegation((record) => {
    Object.assign(record, { tree: "changed" });
    throw new Error("broken");
  });
  errand.onDelegation(({ tree }) => void told.push(tree));
  const agent = await errand.openAgent();
  await agent.postAndAwait("go");
  await expect.poll(() => told).toEqual([agent.id]);
  expect(failures).toEqual(["listener-failed"]);
});

test("tool names that clash are refused", async () => {
  for (const tools of [[lookTool(), lookTool()], [{ ...lookTool(), name: "subagent" }]]) {
    await expect(createErrand({ store: "memory", tools })).rejects.toMatchObject({ code: "usage" });
  }
});

const EXOTIC: readonly unknown[] = [
  null,
  undefined,
  "text",
  Object.create(null),
  new Proxy(new Error("hidden"), {
    get() {
      throw new Error("no");
    },
  }),
  { toString: () => 5n, valueOf: () => ({}) },
  Symbol("mark"),
];

test("whatever a tool or a model throws is an ordinary failure", async () => {
  for (const thrown of EXOTIC) {
    expect(typeof errorText(thrown)).toBe("string");
    const tools = [lookTool(() => Promise.reject(thrown))];
    const { errand } = await openTestErrand({ parent: [callTool("look", {}), say("went on")] }, { tools });
    expect((await (await errand.openAgent()).postAndAwait("look")).text).toBe("went on");
    const call = (): Promise<never> => Promise.reject(thrown);
    const models = { resolve: () => ({ facts: { window: null, price: null }, model: { call } }) };
    const failing = await openTestErrand({ parent: [] }, { models: [models] });
    const agent = await failing.errand.openAgent();
    await expect(agent.postAndAwait("hello")).rejects.toMatchObject({ code: "turn-failed" });
  }
});
