import { expect, test } from "vitest";
import type { Json } from "../../src/core/values/json.ts";
import { byContext, callTool, malformedCall, say } from "../../src/testing/index.ts";
import { childRequests, parentRequests, toolResults } from "../support/model-requests.ts";
import { callSubagent, report } from "../support/scripted-replies.ts";
import { acceptedFacts, eventsNow } from "../support/tree-facts.ts";
import { openTestErrand } from "../support/test-errand.ts";

const task = "x";
const HUGE = "x".repeat(1_100_000);

/** Tool, arguments, the field that is named, and a word of the remedy. */
const bad: readonly (readonly [string, string, Json, string, RegExp])[] = [
  ["a missing task", "subagent", {}, "task", /give it as/],
  ["an empty task", "subagent", { task: "" }, "task", /must not be empty/],
  ["a task that is a number", "subagent", { task: 7 }, "task", /must be a string/],
  ["a task of a megabyte", "subagent", { task: HUGE }, "task", /at most 262144/],
  ["an unknown property", "subagent", { task, colour: "red" }, "colour", /leave it out/],
  ["the property of another tool", "subagent", { task, model: "scripted/child" }, "model", /leave it out/],
  ["a run id of its own making", "start_background_agent", { task, run_id: "r" }, "run_id", /leave it out/],
  ["files that are a string", "subagent", { task, files: "a.ts" }, "files", /must be an array/],
  ["a file that is a number", "subagent", { task, files: ["a.ts", 7] }, "files[1]", /must be a string/],
  [
    "ten thousand files",
    "subagent",
    { task, files: Array.from({ length: 10_000 }, () => "f") },
    "files",
    /at most 100/,
  ],
  ["half an iteration", "subagent", { task, max_iterations: 0.5 }, "max_iterations", /whole number/],
  ["no iterations", "subagent", { task, max_iterations: 0 }, "max_iterations", /at least 1/],
  ["an absurd timeout", "subagent", { task, timeout_seconds: 1e300 }, "timeout_seconds", /whole number/],
  ["a timeout in words", "subagent", { task, timeout_seconds: "5m" }, "timeout_seconds", /whole number/],
  ["a schema that is a number", "subagent", { task, output_schema: 7 }, "output_schema", /must be a string/],
  [
    "a schema that is not JSON",
    "subagent",
    { task, output_schema: "{" },
    "output_schema",
    /must not be empty|JSON text/,
  ],
  ["a schema that is a list", "subagent", { task, output_schema: "[1]" }, "output_schema", /JSON text of an object/],
  [
    "a schema a thousand levels deep",
    "subagent",
    { task, output_schema: '{"not":'.repeat(1_000) + "{}" + "}".repeat(1_000) },
    "output_schema",
    /at most 64 levels/,
  ],
  ["a context that is null", "subagent", { task, context: null }, "context", /must be a string/],
  ["an unknown cleanup", "start_background_agent", { task, cleanup: "burn" }, "cleanup", /one of keep, delete/],
  ["an unknown announce", "start_background_agent", { task, announce: "never" }, "announce", /one of together, each/],
  ["an empty label", "start_background_agent", { task, label: "" }, "label", /must not be empty/],
  ["a missing run", "cancel_run", {}, "run_id", /give it as/],
  ["an empty text", "steer_run", { run_id: "r", text: "" }, "text", /must not be empty/],
  ["a negative offset", "read_result", { run_id: "r", offset: -1 }, "offset", /at least 0/],
  ["an unknown state", "list_runs", { state: "sleeping" }, "state", /one of queued/],
  ["a prototype", "list_runs", JSON.parse('{"__proto__": {}}') as Json, "__proto__", /leave it out/],
];

/** Tools whose failures have a shape of their own: rules D1 and F5. */
const SHAPED = new Set(["subagent", "start_background_agent"]);

test.each(bad)(
  "bad arguments: %s is refused with the field and the remedy, in the shape of the tool",
  async (_name, tool, input, field, remedy) => {
    const parent = [callTool(tool, input), say("I see")];
    const { errand, models } = await openTestErrand({ parent }, { limits: { replyTokens: null } });
    const agent = await errand.openAgent();
    expect((await agent.postAndAwait("go")).text).toBe("I see");
    const [result] = toolResults(parentRequests(models)[1]);
    expect(result?.failed).toBe(!SHAPED.has(tool));
    expect(result?.text).toContain(`\`${field}\``);
    if (SHAPED.has(tool)) expect(refusalOf(tool, result?.text)).toBe("invalid-arguments");
    else expect(result?.text).toContain(tool);
    expect(result?.text).toMatch(remedy);
    expect(result?.text.length).toBeLessThan(500);
    expect(acceptedFacts(await eventsNow(errand, agent.id), "run-created")).toEqual([]);
  },
);

/** The reason in a refusal that has exactly the keys of its tool's shape. */
function refusalOf(tool: string, text: string | undefined): unknown {
  const refusal = JSON.parse(text ?? "") as { readonly reason: unknown };
  const keys = [
    "success",
    "summary",
    "artifacts",
    "error",
    "reason",
    "timed_out",
    "duration_ms",
    "run_id",
    "report",
    "nudged",
  ];
  expect(Object.keys(refusal)).toEqual(tool === "subagent" ? keys : ["status", "reason", "error"]);
  if (tool === "subagent")
    expect(refusal).toMatchObject({ success: false, timed_out: false, duration_ms: 0, run_id: null });
  else expect(refusal).toMatchObject({ status: "refused" });
  return refusal.reason;
}

test.each(["subagent", "start_background_agent", "list_runs"])(
  "bad arguments: arguments of %s that are no JSON are refused and say so",
  async (tool) => {
    const { errand, models } = await openTestErrand({ parent: [malformedCall(tool), say("I see")] });
    await (await errand.openAgent()).postAndAwait("go");
    const [result] = toolResults(parentRequests(models)[1]);
    expect(result?.failed).toBe(!SHAPED.has(tool));
    expect(result?.text).toMatch(/not valid JSON; send one JSON object/);
    if (SHAPED.has(tool)) expect(refusalOf(tool, result?.text)).toBe("invalid-arguments");
  },
);

test("bad arguments: a report with status, origin or run id is refused; the runtime's values count", async () => {
  const { errand, models } = await openTestErrand({
    parent: [callSubagent(task), say("done")],
    child: byContext([
      report("x", { status: "ok" }),
      report("x", { origin: "root" }),
      report("x", { run_id: "0198c0de-0000-7000-8000-000000000000" }),
      report("good"),
      say("done"),
    ]),
  });
  await (await errand.openAgent()).postAndAwait("go");
  const told = childRequests(models)
    .slice(1)
    .map((request) => toolResults(request)[0]);
  expect(told.map((result) => result?.failed)).toEqual([true, true, true, false]);
  for (const [index, field] of ["status", "origin", "run_id"].entries())
    expect(told[index]?.text).toContain(`\`${field}\``);
});

test.each([
  ["no task", { task: "" }],
  ["a negative timeout", { task, timeoutSeconds: -5 }],
  ["half an iteration", { task, maxIterations: 0.5 }],
])("bad arguments: spawn of the API with %s is refused, and nothing is made", async (_name, options) => {
  const { errand } = await openTestErrand({ parent: [] });
  const agent = await errand.openAgent();
  await expect(agent.spawn(options)).rejects.toMatchObject({ code: "usage" });
  expect(await errand.listRuns()).toEqual([]);
});

test("I1: a spawn asked for again under the same id is the same run", async () => {
  const { errand } = await openTestErrand({
    parent: () => say("NO_REPLY"),
    child: byContext([report("r"), say("done")]),
  });
  const agent = await errand.openAgent();
  const [first, same] = await Promise.all([agent.spawn({ id: "s-1", task }), agent.spawn({ id: "s-1", task })]);
  const later = await agent.spawn({ id: "s-1", task });
  expect([same.id, later.id]).toEqual([first.id, first.id]);
  expect(await errand.listRuns()).toHaveLength(1);
});
