import { createHash } from "node:crypto";
import { expect, onTestFinished, test } from "vitest";
import { createErrand } from "../../src/index.ts";
import { byContext, callTool, createMemoryChannel, fail, hang, type Script, say } from "../../src/testing/index.ts";
import { childRequests, newestUserText, occurrences, parentRequests, toolJson } from "../support/model-requests.ts";
import { report, startCall, type StartCall, startRuns } from "../support/scripted-replies.ts";
import { openTestErrand } from "../support/test-errand.ts";
import { createTestWorld, type TestWorld } from "../support/test-world.ts";

/** What the parent is told of these runs, once all have ended. */
async function told(calls: readonly StartCall[], child: Script, world: TestWorld = createTestWorld(), seconds = 150) {
  const { errand, models } = await openTestErrand(
    { parent: [startRuns(...calls), say("started"), say("told")], child },
    { world },
  );
  const agent = await errand.openAgent();
  await agent.post("go");
  await world.advance(seconds * 1_000);
  return { text: newestUserText(parentRequests(models)[2]), runs: await errand.listRuns(), errand, models, agent };
}

const reporting = byContext([report("the findings"), say("done")]);
const silent: Script = () => say("NO_REPLY");

type ScriptFunction = Extract<Script, (...given: never[]) => unknown>;

/** A child that answers after so many milliseconds of the world. */
function after(world: TestWorld, milliseconds: number): ScriptFunction {
  return async (_request, { replies }) => {
    if (replies > 0) return say("done");
    await new Promise<void>((resolve) => void world.after(milliseconds, resolve));
    return report("late findings");
  };
}

test("D4: the announcement of one run has name, status, framed findings, stats and short instructions", async () => {
  const world = createTestWorld();
  const { text, runs } = await told([startCall("do it", { label: "my label" })], after(world, 125_000), world);
  const [run] = runs;
  const blocks = text.split("\n\n");
  expect(blocks[0]).toContain('"my label"');
  expect(blocks[0]).toContain("completed successfully");
  expect(blocks[1]).toBe(`Findings:\n<findings origin="${run?.agent}">\nlate findings\n</findings>`);
  expect(blocks[2]).toBe(`Stats: runtime 2m5s • tokens ${run?.tokens}`);
  expect(blocks[3]).toMatch(/naturally and briefly/);
  expect(blocks[3]).toMatch(/concrete findings/);
  expect(text).not.toContain(run?.id);
  expect(blocks[3]).toMatch(/no technical details/i);
  expect(blocks[3]).toMatch(/background tasks/);
  expect(blocks[3]).toContain("NO_REPLY");
  expect(blocks).toHaveLength(4);
});

test("D4: without a label the name is the first 60 code points of the task", async () => {
  const task = "🧭".repeat(59) + "ab and more";
  const { text } = await told([startCall(task)], reporting);
  expect(text.split("\n")[0]).toContain(`"${"🧭".repeat(59)}a"`);
});

test("D4: an unknown cost is left out, a known one stands in dollars", async () => {
  const { text, models } = await told([startCall("x")], reporting);
  expect(text).not.toContain("cost");
  const price = { input: 1_000_000, output: 2_000_000, cachedInput: 0 };
  const world = createTestWorld();
  const priced = {
    ...models,
    resolve: (name: string) => {
      const found = models.resolve(name);
      return "unavailable" in found ? found : { ...found, facts: { window: null, price } };
    },
  };
  const errand = await createErrand({ store: "memory", world, models: [priced], model: "scripted/child" });
  onTestFinished(() => errand.close());
  const agent = await errand.openAgent();
  await agent.spawn({ task: "x" });
  await world.advance(1_000);
  const [run] = await errand.listRuns();
  expect(run?.cost).toBeGreaterThan(0);
  const asked = models.requests
    .map(newestUserText)
    .find((given) => given.startsWith("Background task") && given.includes("cost"));
  expect(asked).toContain(`cost $${((run?.cost ?? 0) / 1_000_000).toFixed(4)}`);
});

const labels: readonly (readonly [string, Script, Record<string, number>])[] = [
  ["completed successfully", reporting, {}],
  ["completed without reporting", () => say("just words"), {}],
  ['failed: "no credit"', () => fail({ message: "no credit" }), {}],
  ['failed: "no credit left."', () => fail({ message: "Error: no credit left." }), {}],
  ["timed out", () => hang(), { timeout_seconds: 7 }],
];

test.each(labels)("D4: the status label %s", async (label, child, more) => {
  const { text } = await told([startCall("x", more)], child);
  const stop = label.endsWith('."') ? "" : ".";
  expect(text.split("\n")[0]).toBe(`Background task "x" ${label}${stop}`);
});

test("D4: the status label was cancelled", async () => {
  const channel = createMemoryChannel();
  const { errand, models } = await openTestErrand({
    parent: [startRuns(startCall("x")), say("started"), say("told")],
    child: () => hang(),
  });
  const agent = await errand.openAgent({ channel });
  await agent.postAndAwait("go");
  const [run] = await errand.listRuns();
  expect(await errand.cancel(run?.id ?? "")).toBe(true);
  await channel.received(2);
  expect(newestUserText(parentRequests(models)[2]).split("\n")[0]).toMatch(/"x" was cancelled\.?$/);
});

test("D4: findings of a run that left nothing are (no output)", async () => {
  const { text } = await told([startCall("x")], () => fail({ message: "broken" }));
  expect(text).toContain("Findings:\n(no output)");
  const quiet = await told([startCall("x")], silent);
  expect(quiet.text).toContain("completed without reporting");
});

test("D5: several runs are announced with count, sections, wall time, totals and the duty to cover all", async () => {
  const world = createTestWorld();
  const child: Script = (request, situation) => {
    if (situation.task === "fails") return fail({ message: "no credit" });
    if (situation.task === "hangs") return hang();
    return after(world, 61_000)(request, situation);
  };
  const calls = [
    startCall("good", { label: "first" }),
    startCall("fails"),
    startCall("hangs", { timeout_seconds: 90 }),
  ];
  const { text, runs } = await told(calls, child, world);
  expect(text.split("\n")[0]).toContain("3");
  const sections = text.split("\n\n").filter((block) => block.startsWith("### "));
  expect(sections.map((section) => section.split("\n").slice(0, 2))).toEqual([
    ['### Task 1: "first"', "Status: completed successfully (1m1s)"],
    ['### Task 2: "fails"', 'Status: failed: "no credit" (0s)'],
    ['### Task 3: "hangs"', "Status: timed out (1m30s)"],
  ]);
  expect(occurrences(text, "late findings")).toBe(1);
  expect(sections[0]).toContain(`<findings origin="${runs[0]?.agent}">\nlate findings\n</findings>`);
  expect(sections[1]).toContain("(no output)");
  expect(text).toContain("Total wall time: 1m30s");
  expect(text).toContain("Results: 1 succeeded, 2 failed/timed out");
  expect(text).toMatch(/every task/i);
  expect(text).toContain("NO_REPLY");
  expect(text).toMatch(/concrete findings/);
  // The duration stands once, and nothing was cut that a run's id would be needed for.
  expect(occurrences(text, "1m1s")).toBe(1);
  expect(text).not.toContain("Stats:");
  for (const run of runs) expect(text).not.toContain(run.id);
});

test("D5: a background parent's instructions are to use the results and report, without NO_REPLY", async () => {
  const channel = createMemoryChannel();
  const { errand, models } = await openTestErrand(
    {
      parent: [startRuns(startCall("outer")), say("started"), say("told")],
      child: (_request, { task, replies, newest: asked }) => {
        if (task === "inner") return replies === 0 ? report("INNER") : say("done");
        if (replies === 0) return startRuns(startCall("inner"));
        if (asked.startsWith("You haven't sent")) return report("OUTER");
        return say("NO_REPLY");
      },
    },
    { limits: { maxDepth: 2 } },
  );
  await (await errand.openAgent({ channel })).post("go");
  await channel.received(2);
  const announced =
    childRequests(models)
      .map(newestUserText)
      .find((text) => text.includes("INNER")) ?? "";
  expect(announced).toMatch(/own task/);
  expect(announced).toMatch(/report/);
  expect(announced).not.toContain("NO_REPLY");
  expect(announced).not.toMatch(/for the user/i);
  expect(channel.messages.map((message) => message.text)).toEqual(["started", "told"]);
  const outer = (await errand.listRuns()).find((run) => run.name === "outer");
  expect(outer).toMatchObject({ status: "ok", report: "tool", nudged: true });
});

test.each([
  [0, "0s"],
  [44_900, "45s"],
  [59_600, "1m"],
  [120_000, "2m"],
  [125_000, "2m5s"],
  [1_799_000, "29m59s"],
])("D6: %i ms of running are told as %s", async (milliseconds, label) => {
  const world = createTestWorld();
  const { text } = await told([startCall("x")], after(world, milliseconds), world, 1 + milliseconds / 1_000);
  expect(text).toMatch(new RegExp(`^Stats: runtime ${label}( •|$)`, "m"));
});

test("D6: from an hour on seconds are dropped", async () => {
  const world = createTestWorld();
  const long = await told([startCall("x", { timeout_seconds: 3_600 })], () => hang(), world, 3_700);
  expect(long.text).toMatch(/runtime 1h( •|$)/m);
});

test("D7: findings over 32 KiB are cut, with sizes and a handle that reads the rest", async () => {
  const large = "ä".repeat(100_000);
  const world = createTestWorld();
  const { errand, models } = await openTestErrand(
    {
      parent: (request, { replies }) => {
        if (replies === 0) return startRuns(startCall("x"));
        if (replies === 1) return say("started");
        if (replies > 3) return say("told");
        const id = /run_id ([0-9a-f-]{36})/.exec(JSON.stringify(request.messages))?.[1] ?? "";
        return callTool("read_result", { run_id: id, offset: replies === 2 ? 0 : 199_000 });
      },
      child: byContext([report(large), say("done")]),
    },
    { world },
  );
  const agent = await errand.openAgent();
  await agent.post("go");
  await world.advance(1_000);
  const requests = parentRequests(models);
  const text = newestUserText(requests[2]);
  const cut = /truncated: (\{[^}]*\})/.exec(text)?.[1] ?? "{}";
  expect(JSON.parse(cut)).toEqual({
    original_bytes: 200_000,
    kept_bytes: 32_768,
    sha256: createHash("sha256").update(large).digest("base64url"),
  });
  expect(Buffer.byteLength(text)).toBeLessThan(32_768 + 1_500);
  expect(toolJson(requests[3])).toEqual({ text: "ä".repeat(16_384), offset: 0, bytes: 200_000, next_offset: 32_768 });
  expect(toolJson(requests[4])).toEqual({ text: "ä".repeat(500), offset: 199_000, bytes: 200_000 });
  expect(childRequests(models)).toHaveLength(2);
});

test("D7: all findings of one announcement together stay within 64 KiB", async () => {
  const calls = Array.from({ length: 5 }, (_, index) => startCall(`t${index}`));
  const { text } = await told(calls, byContext([report("Q".repeat(40_000)), say("done")]));
  expect(occurrences(text, "Q")).toBeLessThanOrEqual(65_536);
  expect(occurrences(text, "Q")).toBeGreaterThan(60_000);
  expect(occurrences(text, "truncated: ")).toBe(5);
});
