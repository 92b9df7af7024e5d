/** No schema can stop the process: models write a small subset, and no check of data blocks the event loop for long. */

import { expect, test } from "vitest";
import { createErrand, type StandardSchema } from "../../src/index.ts";
import type { Json } from "../../src/core/values/json.ts";
import { byContext, say, type Script } from "../../src/testing/index.ts";
import { childRequests, parentRequests, toolJson, toolResults } from "../support/model-requests.ts";
import { callSubagent, report } from "../support/scripted-replies.ts";
import { createSchemaChecker } from "../../src/runtime/schemas/schema-checker.ts";
import { createSystemWorld } from "../../src/runtime/world.ts";
import { openTestErrand } from "../support/test-errand.ts";
import { longestHold } from "./support/event-loop.ts";

type JsonObject = { readonly [key: string]: Json };

const HOLD_MS = 50;
const EXPLODING = "^(a+)+$";
const HOSTILE_TEXT = `${"a".repeat(60)}!`;

/** The answer to a `subagent` call with this schema, whose child reports these data. */
async function answered(output_schema: Json, data: Json = {}) {
  const child: Script = (_request, { replies }) => (replies === 0 ? report("x", { data }) : say("done"));
  const parent = [callSubagent("count", { output_schema }), say("done")];
  const { errand, models } = await openTestErrand({ parent, child });
  await (await errand.openAgent()).postAndAwait("go");
  return { answer: toolJson(parentRequests(models)[1]), runs: await errand.listRuns() };
}

function nested(levels: number): Json {
  return levels === 0 ? {} : { properties: { a: nested(levels - 1) } };
}

test("$async in a model's schema is refused by name, without an unhandled rejection", async () => {
  const { answer, runs } = await answered({ $async: true, type: "string" });
  expect(answer).toMatchObject({ success: false, run_id: null });
  expect(answer["error"]).toContain("`$async`");
  expect(runs).toEqual([]);
});

test.each<[string, JsonObject, string]>([
  ["a pattern", { type: "string", pattern: EXPLODING }, "`pattern`"],
  ["patterns of names", { patternProperties: { [EXPLODING]: {} } }, "`patternProperties`"],
  ["a pattern deep inside", { properties: { a: { items: { anyOf: [{ pattern: "a" }] } } } }, "`pattern`"],
  ["a pattern behind a reference", { $ref: "#/default", default: { pattern: "a" } }, "`pattern`"],
  ["$async deep inside", { properties: { a: { $async: true } } }, "`$async`"],
  ["a remote reference", { $ref: "http://127.0.0.1:9/schema.json" }, "`$ref`"],
  ["a reference to a file", { $ref: "file:///etc/passwd" }, "`$ref`"],
  ["a reference to nothing", { $ref: "#/$defs/none" }, "`$ref`"],
  ["a dynamic reference", { $dynamicRef: "#x" }, "`$dynamicRef`"],
  ["a base of references", { $id: "http://127.0.0.1:9/", type: "string" }, "`$id`"],
  ["a keyword that nobody knows", { instanceof: "Object" }, "`instanceof`"],
  ["many alternatives", { anyOf: Array.from({ length: 33 }, () => ({})) }, "`anyOf`"],
  [
    "alternatives of alternatives",
    { allOf: Array.from({ length: 20 }, () => ({ anyOf: Array.from({ length: 20 }, () => ({})) })) },
    "`anyOf`",
  ],
  ["a large schema", { description: "x".repeat(40_000) }, "characters"],
  ["a deep schema", nested(20) as JsonObject, "levels"],
  ["a wrong value", { minLength: "3" }, "`minLength`"],
])("a model's schema with %s is a tool error that says so", async (_, schema, named) => {
  for (const given of [schema, JSON.stringify(schema)]) {
    const { answer, runs } = await answered(given);
    expect(answer).toMatchObject({ success: false, run_id: null });
    expect(String(answer["error"])).toContain(named);
    expect(runs).toEqual([]);
  }
});

test("a model's schema may be recursive, and data of any shape are checked within the time limit", async () => {
  const tree = {
    $ref: "#/$defs/node",
    $defs: { node: { type: "object", properties: { inner: { $ref: "#/$defs/node" } }, additionalProperties: false } },
  };
  expect((await answered(tree, { inner: { inner: {} } })).answer).toMatchObject({ success: true });
  expect((await answered(tree, { inner: { inner: 1 } })).answer).toMatchObject({ reason: "invalid-output" });
  const circle = { $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } } };
  expect((await answered(circle)).answer).toMatchObject({ reason: "invalid-output" });
});

test("no schema that a model may write blocks the event loop for 50 ms", async () => {
  const choices = (depth: number): Json =>
    depth === 0 ? { const: 1 } : { anyOf: Array.from({ length: 2 }, () => ({ $ref: `#/$defs/d${depth - 1}` })) };
  const doubling = {
    $ref: "#/$defs/d24",
    $defs: Object.fromEntries(Array.from({ length: 25 }, (_, depth) => [`d${depth}`, choices(depth)])),
  };
  expect((await answered(doubling, 2)).answer).toMatchObject({ success: false });
  const { dataProblem } = createSchemaChecker(createSystemWorld());
  const many = Array.from({ length: 300_000 }, (_, index) => index);
  for (const [schema, data] of [
    [doubling, 2],
    [{ type: "array", items: { type: "integer" } }, many],
    [{ type: "array", items: { anyOf: [{ type: "string" }, { type: "integer" }] } }, many],
    [{ type: "array", uniqueItems: true }, many],
    [{ type: "array", items: { enum: Array.from({ length: 500 }, (_, index) => -index) } }, many],
    [{ uniqueItems: true }, [JSON.parse("[".repeat(3_000) + "]".repeat(3_000)) as Json]],
    [{ type: "array", items: { type: "string", maxLength: 1 } }, ["x".repeat(1_000_000)]],
    [{ additionalProperties: { type: "integer" } }, Object.fromEntries(many.map((index) => [`n${index}`, index]))],
  ] satisfies [Json, Json][]) {
    let problem: string | null = null;
    const hold = await longestHold(async () => (problem = await dataProblem(schema, data)));
    expect(problem).toMatch(/^`data/);
    expect(hold).toBeLessThan(HOLD_MS);
  }
});

test("a definition's schema with an unknown meaning is refused when the definition is made", async () => {
  for (const [output, named] of [
    [{ $async: true }, "$async"],
    [{ $ref: "http://127.0.0.1:9/x" }, "$ref"],
    [{ type: "string", pattern: "(" }, "pattern"],
    [{ type: "text" }, "type"],
  ] satisfies [JsonObject, string][]) {
    const agents = { worker: { prompt: "x", output } };
    await expect(createErrand({ store: "memory", agents })).rejects.toMatchObject({
      code: "definition-invalid",
      message: expect.stringContaining(`\`${named}\``) as string,
    });
    const { errand } = await openTestErrand({ parent: () => say("ok") });
    const agent = await errand.openAgent();
    await expect(agent.spawn({ task: "x", output })).rejects.toMatchObject({ code: "usage" });
    expect(await errand.listRuns()).toEqual([]);
  }
});

test("a user's pattern that backtracks without end refuses the data, and the event loop continues", async () => {
  const output = { type: "object", properties: { name: { type: "string", pattern: EXPLODING } }, required: ["name"] };
  const child = byContext([
    report("x", { data: { name: HOSTILE_TEXT } }),
    report("x", { data: { name: "aaa" } }),
    say("done"),
  ]);
  const { errand, models } = await openTestErrand(
    { parent: [callSubagent("count"), say("done")], child },
    { child: { output } },
  );
  const agent = await errand.openAgent();
  expect(await longestHold(() => agent.postAndAwait("go"))).toBeLessThan(HOLD_MS);
  expect(toolResults(childRequests(models)[1])[0]?.text).toContain("too long");
  expect(toolJson(parentRequests(models)[1])).toMatchObject({ success: true, data: { name: "aaa" } });
});

test("a Standard Schema that never finishes, or throws, refuses the data", async () => {
  const hostile = (validate: (value: unknown) => never): StandardSchema => ({
    "~standard": { validate, jsonSchema: { input: () => ({ type: "object" }) } },
  });
  const endless = hostile(() => {
    for (;;);
  });
  const throwing = hostile(() => {
    throw new Error("broken");
  });
  for (const [output, named] of [
    [endless, "too long"],
    [throwing, "broken"],
  ] as const) {
    const child: Script = (_request, { replies }) => (replies === 0 ? report("x", { data: {} }) : say("done"));
    const { errand, models } = await openTestErrand(
      { parent: [callSubagent("count"), say("done")], child },
      { child: { output } },
    );
    const agent = await errand.openAgent();
    expect(await longestHold(() => agent.postAndAwait("go"))).toBeLessThan(HOLD_MS);
    expect(toolResults(childRequests(models)[1])[0]?.text).toContain(named);
    expect(toolJson(parentRequests(models)[1])).toMatchObject({ reason: "invalid-output" });
  }
});

test("data with property names of JavaScript's prototypes are plain data", async () => {
  const data = JSON.parse('{"__proto__": {"a": 1}, "constructor": 1, "toString": 2}') as Json;
  const closed = { type: "object", properties: { constructor: {}, toString: {} }, additionalProperties: false };
  expect((await answered(closed, data)).answer).toMatchObject({ reason: "invalid-output" });
  expect((await answered({ required: ["hasOwnProperty"] }, data)).answer).toMatchObject({ reason: "invalid-output" });
});
