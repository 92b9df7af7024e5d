import { expect, test } from "vitest";
import type { StandardSchema } from "../../src/index.ts";
import { byContext, say, type Script } from "../../src/testing/index.ts";
import { childRequests, parentRequests, toolJson, toolResults } from "../support/model-requests.ts";
import { callSubagent, report } from "../support/scripted-replies.ts";
import { openTestErrand } from "../support/test-errand.ts";

const schema = {
  type: "object",
  properties: { count: { type: "integer" }, names: { type: "array", items: { type: "string" } } },
  required: ["count"],
  additionalProperties: false,
} as const;

async function typed(child: Script, more = {}, options: Parameters<typeof openTestErrand>[1] = {}) {
  const { errand, models } = await openTestErrand(
    { parent: [callSubagent("count", more), say("done")], child },
    options,
  );
  await (await errand.openAgent()).postAndAwait("go");
  return { answer: toolJson(parentRequests(models)[1]), models, errand };
}

test("F10: data that fit the schema of a call stand in the payload, after the artifacts", async () => {
  const child = byContext([report("three", { data: { count: 3 } }), say("done")]);
  const { answer, models } = await typed(child, { output_schema: schema });
  expect(answer).toMatchObject({ success: true, data: { count: 3 } });
  expect(Object.keys(answer).slice(0, 4)).toEqual(["success", "summary", "artifacts", "data"]);
  const told = childRequests(models)[0]?.tools.find((tool) => tool.name === "send_agent_message");
  expect(told?.schema).toMatchObject({ properties: { data: schema } });
  expect(childRequests(models)[0]?.system).toContain("`data`");
});

test("F10: a mismatch is answered with the field, and the child corrects it within its iterations", async () => {
  const child = byContext([
    report("many", { data: { count: "many" } }),
    report("none"),
    report("three", { data: { count: 3, names: ["a", 1] } }),
    report("three", { data: { count: 3, names: ["a"] } }),
    say("done"),
  ]);
  const { answer, models } = await typed(child, { output_schema: schema });
  expect(answer).toMatchObject({ success: true, summary: "three", data: { count: 3, names: ["a"] }, nudged: false });
  const told = childRequests(models)
    .slice(1)
    .map((request) => toolResults(request)[0]);
  expect(told.map((result) => result?.failed)).toEqual([true, true, true, false]);
  expect(told[0]?.text).toContain("`data.count`");
  expect(told[1]?.text).toContain("`data` is missing");
  expect(told[2]?.text).toContain("`data.names.1`");
});

test("F10: data that never fit end the run as invalid-output, and the error names the field", async () => {
  const child: Script = (_request, { replies }) =>
    replies === 0 ? report("many", { data: { count: "many" } }) : say("I cannot count");
  const [first, second] = [
    await typed(child, { output_schema: schema }),
    await typed(child, { output_schema: schema }),
  ];
  expect(first.answer).toMatchObject({ success: false, reason: "invalid-output", timed_out: false });
  expect(first.answer).not.toHaveProperty("data");
  expect(first.answer["error"]).toContain("data.count");
  expect(second.answer["error"]).toBe(first.answer["error"]);
});

test("F10: a report that names its parent by id is checked like any other", async () => {
  const child: Script = (request, { replies }) => {
    const parent = /parent agent \(id ([0-9a-f-]{36})\)/.exec(request.system)?.[1] ?? "";
    if (replies === 0) return report("wrong", { agentId: parent, data: { count: "many" } });
    return replies === 1 ? report("right", { agentId: parent, data: { count: 3 } }) : say("done");
  };
  const { answer, models } = await typed(child, { output_schema: schema });
  expect(toolResults(childRequests(models)[1])[0]?.failed).toBe(true);
  expect(answer).toMatchObject({ success: true, summary: "right", data: { count: 3 } });
});

test("F10: a definition's JSON Schema applies to all its runs, and a call's own schema replaces it", async () => {
  const child = byContext([report("x", { data: { count: 1.5 } }), report("x", { data: { count: 2 } }), say("done")]);
  const { answer } = await typed(child, {}, { child: { output: schema } });
  expect(answer).toMatchObject({ success: true, data: { count: 2 } });
  const own = byContext([report("x", { data: { count: 2 } }), report("x", { data: "two" }), say("done")]);
  const other = await typed(own, { output_schema: { type: "string" } }, { child: { output: schema } });
  expect(other.answer).toMatchObject({ success: true, data: "two" });
});

test("F10: a Standard Schema of a definition checks the data itself", async () => {
  const even: StandardSchema<{ count: number }> = {
    "~standard": {
      validate: (value) => {
        const count = (value as { count?: unknown } | undefined)?.count;
        return typeof count === "number" && count % 2 === 0
          ? { value: { count } }
          : { issues: [{ message: "must be even", path: ["count"] }] };
      },
      jsonSchema: { input: () => ({ type: "object", properties: { count: { type: "integer" } } }) },
    },
  };
  const child = byContext([report("x", { data: { count: 3 } }), report("x", { data: { count: 4 } }), say("done")]);
  const { answer, models } = await typed(child, {}, { child: { output: even } });
  expect(toolResults(childRequests(models)[1])[0]?.text).toContain("`data.count`: must be even");
  expect(answer).toMatchObject({ success: true, data: { count: 4 } });
});

test("F10: an invalid schema is refused before anything runs", async () => {
  const { answer, errand } = await typed([], { output_schema: { type: "no-such-type" } });
  expect(answer).toMatchObject({ success: false, run_id: null });
  expect(answer["error"]).toContain("output_schema");
  expect(await errand.listRuns()).toEqual([]);
});
