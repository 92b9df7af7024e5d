/** Tools as programs write them, and what they are told of their call. */

import { join } from "node:path";
import { jsonSchema, tool as aiTool } from "ai";
import { expect, test } from "vitest";
import { z } from "zod";
import { createErrand, tool, type Tool, type ToolContext } from "../../src/index.ts";
import { byContext, callTool, createScriptedModels, say, type Script } from "../../src/testing/index.ts";
import { toolText } from "../support/model-requests.ts";
import { openTestErrand, temporaryFolder } from "../support/test-errand.ts";

/** The model calls the tool once with these arguments, and answers with what it gave. */
function callOnce(name: string, input: Parameters<typeof callTool>[1]): Script {
  return (request, { replies }) => (replies === 0 ? callTool(name, input) : say(toolText(request)));
}

async function answerOf(one: Tool, input: Parameters<typeof callTool>[1]): Promise<string> {
  const { errand } = await openTestErrand({ parent: callOnce(one.name, input) }, { tools: [one] });
  return (await errand.run("go")).text;
}

const weather = tool({
  name: "weather",
  description: "The weather of a city.",
  input: z.object({ city: z.string(), days: z.number().int().default(1) }),
  run: ({ city, days }) => ({ city, days, sky: "blue" }),
});

test("arguments are checked and typed by a Standard Schema, and any JSON is a result", async () => {
  expect(JSON.parse(await answerOf(weather, { city: "Rome" }))).toEqual({ city: "Rome", days: 1, sky: "blue" });
  expect(await answerOf(weather, { city: 7 })).toMatch(/^Error: weather: `city`: /);
});

test("arguments are checked by a JSON Schema, and a text is a result", async () => {
  const echo = tool({
    name: "echo",
    description: "Says it again.",
    input: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
    run: ({ text }) => `again: ${JSON.stringify(text)}`,
  });
  expect(await answerOf(echo, { text: "hi" })).toBe('again: "hi"');
  expect(await answerOf(echo, {})).toMatch(/^Error: echo: .*text/);
});

test("a thrown error and a result that is no JSON are failed results with their message", async () => {
  const throwing = tool({
    name: "throwing",
    description: "Throws.",
    run: () => {
      throw new Error("no line to Rome");
    },
  });
  expect(await answerOf(throwing, {})).toBe("Error: throwing failed: no line to Rome");
  const cyclic: { self?: unknown } = {};
  cyclic.self = cyclic;
  const odd = tool({ name: "odd", description: "Gives a cycle.", run: () => cyclic });
  expect(await answerOf(odd, {})).toMatch(/^Error: odd gave a result that is no JSON/);
  const nothing = tool({ name: "nothing", description: "Gives nothing.", run: () => undefined });
  expect(await answerOf(nothing, {})).toBe("null");
});

test("a tool is told its call, its attempt, its conversation, its run and its agent", async () => {
  const contexts: ToolContext[] = [];
  const spy = tool({
    name: "spy",
    description: "Looks.",
    run: (_input, context) => {
      contexts.push(context);
      return "seen";
    },
  });
  const { errand } = await openTestErrand(
    {
      parent: byContext([callTool("spy", {}), callTool("subagent", { task: "look" }), say("done")]),
      child: callOnce("spy", {}),
    },
    { tools: [spy] },
  );
  const { tree, runs } = await errand.run("go");
  expect(contexts).toMatchObject([
    { tree, agent: tree, run: null, attempt: 1 },
    { tree, agent: runs[0]?.agent, run: runs[0]?.id, attempt: 1 },
  ]);
  expect(new Set(contexts.map(({ callId }) => callId)).size).toBe(2);
});

test("a call that needs approval waits for the user, and runs or not as the user says", async () => {
  const done: string[] = [];
  const pay = tool({
    name: "pay",
    description: "Pays.",
    input: z.object({ euros: z.number() }),
    needsApproval: ({ euros }) => euros > 10,
    run: ({ euros }) => {
      done.push(String(euros));
      return "paid";
    },
  });
  const paying = async (euros: number, allow: boolean): Promise<string> => {
    const { errand } = await openTestErrand({ parent: callOnce("pay", { euros }) }, { tools: [pay] });
    const { text } = await errand.run("go", {
      onEvent: (event) => {
        if (event.type === "question-asked") void errand.answer(event.id, { allow, note: "too much" });
      },
    });
    return text;
  };
  expect(await paying(5, false)).toBe("paid");
  expect(await paying(50, true)).toBe("paid");
  expect(await paying(99, false)).toContain("too much");
  expect(done).toEqual(["5", "50"]);
});

test.each([
  ["add", { a: 1, b: 2 }, '{"sum":3}'],
  ["count", { n: 3 }, "done 3"],
])("a tool of the AI SDK is accepted as it is: %s", async (name, input, answer) => {
  const errand = await createErrand({
    store: "memory",
    models: [createScriptedModels({ "scripted/x": callOnce(name, input) })],
    model: "scripted/x",
    tools: {
      add: aiTool({
        description: "Adds.",
        inputSchema: z.object({ a: z.number(), b: z.number() }),
        execute: async ({ a, b }) => ({ sum: a + b }),
      }),
      count: aiTool({
        description: "Gives a preliminary result first.",
        inputSchema: jsonSchema<{ n: number }>({ type: "object", properties: { n: { type: "number" } } }),
        async *execute({ n }) {
          yield "almost";
          yield `done ${n}`;
        },
      }),
    },
  });
  expect((await errand.run("go")).text).toBe(answer);
  await errand.close();
});

test("a schema that cannot be told to a model is refused with what to do", () => {
  const untold = { "~standard": { validate: (value: unknown) => ({ value }) } };
  expect(() => tool({ name: "x", description: "", input: untold, run: () => null })).toThrow(
    /cannot tell its JSON Schema/,
  );
});

/** A process is closed while the tool works. The next process asks the tool what became of the call. */
async function afterCrash(
  recover: Tool["recover"] | undefined,
): Promise<{ text: string; ran: number[]; proven: boolean }> {
  const store = join(temporaryFolder(), "errand.db");
  const ran: number[] = [];
  const started = Promise.withResolvers<void>();
  const make = (life: number): Tool => ({
    name: "charge",
    description: "Charges.",
    schema: { type: "object" },
    safe: false,
    run: async () => {
      ran.push(life);
      started.resolve();
      return life === 1 ? new Promise<never>(() => undefined) : { text: "charged now", failed: false };
    },
    ...(recover === undefined ? {} : { recover }),
  });
  const parent = callOnce("charge", {});
  const first = await openTestErrand({ parent }, { store, tools: [make(1)] });
  const crashed = first.errand.run("go", { key: "order 7" });
  crashed.catch(() => undefined);
  await started.promise;
  await first.errand.close({ withinMs: 0 });
  const second = await openTestErrand({ parent }, { store, tools: [make(2)] });
  const { text, tree } = await second.errand.run("go", { key: "order 7" });
  return { text, ran, proven: (await second.errand.replay(tree)).difference === null };
}

test("I23: after a crash a tool that recovers says what became of its call, or that it never happened", async () => {
  expect(await afterCrash(undefined)).toMatchObject({ text: expect.stringContaining("outcome unknown"), ran: [1] });
  const done = await afterCrash(async () => ({ text: "charged before", failed: false }));
  expect(done).toEqual({ text: "charged before", ran: [1], proven: true });
  const never = await afterCrash(async () => "never-happened");
  expect(never).toEqual({ text: "charged now", ran: [1, 2], proven: true });
  const throwing = await afterCrash(async () => {
    throw new Error("the bank does not answer");
  });
  expect(throwing.text).toContain(
    "outcome unknown: charge could not say what became of the call: the bank does not answer",
  );
  expect(throwing).toMatchObject({ ran: [1], proven: true });
});
