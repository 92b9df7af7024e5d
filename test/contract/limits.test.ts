import { join } from "node:path";
import { expect, test } from "vitest";
import { LIMITS } from "../../src/index.ts";
import { byContext, callTools, createMemoryChannel, hang, say, type Script } from "../../src/testing/index.ts";
import { childRequests, parentRequests, requestJson, toolJson, toolResults } from "../support/model-requests.ts";
import { callSubagent, report, startCall, startRuns } from "../support/scripted-replies.ts";
import { acceptedFacts, eventsNow } from "../support/tree-facts.ts";
import { openTestErrand, temporaryFolder } from "../support/test-errand.ts";
import { createTestWorld } from "../support/test-world.ts";

const good = byContext([report("found"), say("done")]);
const subagents = (count: number): ReturnType<typeof say> =>
  callTools(Array.from({ length: count }, (_, index) => ({ name: "subagent", input: { task: `task ${index}` } })));

test("F6: the defaults and hard caps are those of the contract", () => {
  const table = Object.fromEntries(Object.entries(LIMITS).map(([name, limit]) => [name, [limit.default, limit.cap]]));
  expect(table).toMatchObject({
    awaitedTimeoutSeconds: [120, 3_600],
    backgroundTimeoutSeconds: [1_800, 3_600],
    delegatedIterations: [8, 50],
    maxDepth: [1, 5],
    summaryBytes: [32_768, 262_144],
    liveChildren: [8, 64],
    runsPerTree: [100, 10_000],
    tokensPerTree: [null, null],
    costPerTree: [null, null],
  });
});

test("F6: an argument above its cap is lowered to it, and the record says so", async () => {
  const { errand } = await openTestErrand({
    parent: [
      startRuns(
        startCall("a", { timeout_seconds: 999_999, max_iterations: 1_000 }),
        startCall("b", { timeout_seconds: 3_600 }),
      ),
      say("started"),
    ],
    child: () => hang(),
  });
  const agent = await errand.openAgent();
  await agent.postAndAwait("go");
  const [high, even] = acceptedFacts(await eventsNow(errand, agent.id), "run-created");
  expect(high).toMatchObject({ timeoutMs: 3_600_000, iterations: 50, lowered: ["timeout_seconds", "max_iterations"] });
  expect(even).toMatchObject({ timeoutMs: 3_600_000, iterations: 8 });
  expect(even).not.toHaveProperty("lowered");
});

test("F6: a background run has 1,800 s, a child 8 iterations", async () => {
  const { errand } = await openTestErrand({
    parent: [startRuns(startCall("a")), callSubagent("b"), say("done"), say("told")],
    child: (request) => (requestJson(request).includes('"a"') ? hang() : callTools([{ name: "look", input: {} }])),
  });
  const agent = await errand.openAgent();
  await agent.postAndAwait("go");
  const events = await eventsNow(errand, agent.id);
  expect(acceptedFacts(events, "run-created").map(({ timeoutMs, iterations }) => [timeoutMs, iterations])).toEqual([
    [1_800_000, 8],
    [120_000, 8],
  ]);
  expect(acceptedFacts(events, "model-called").filter((fact) => fact.agent === 2)).toHaveLength(8);
  expect(acceptedFacts(events, "run-ended")).toMatchObject([{ run: 2, status: "error", reason: "iteration-limit" }]);
});

test("F6: without a free slot an awaited run is queued for its own timeout, then ends with queue-timeout", async () => {
  const world = createTestWorld();
  const { errand, models } = await openTestErrand(
    {
      parent: [startRuns(startCall("hog")), callSubagent("waits", { timeout_seconds: 10 }), say("I see")],
      child: () => hang(),
    },
    { world, limits: { liveChildren: 1 } },
  );
  await (await errand.openAgent()).post("go");
  await world.advance(9_900);
  expect(parentRequests(models)).toHaveLength(2);
  await world.advance(200);
  expect(toolJson(parentRequests(models)[2])).toMatchObject({
    success: false,
    reason: "queue-timeout",
    timed_out: true,
    duration_ms: 0,
    report: "missing",
  });
  expect(childRequests(models)).toHaveLength(1);
});

test("F6, depth: a refusal is the payload with depth-limit and without a run", async () => {
  const { errand, models } = await openTestErrand({
    parent: [callSubagent("outer"), say("done")],
    child: byContext([callSubagent("inner"), report("could not"), say("done")]),
  });
  await (await errand.openAgent()).postAndAwait("go");
  expect(toolJson(childRequests(models)[1])).toEqual({
    success: false,
    summary: "",
    artifacts: [],
    error: "depth limit reached (max_depth 1)",
    reason: "depth-limit",
    timed_out: false,
    duration_ms: 0,
    run_id: null,
    report: "missing",
    nudged: false,
  });
});

test("F6: runs and tokens that are used up refuse the next delegation as a payload", async () => {
  const runs = await openTestErrand(
    { parent: [callSubagent("one"), callSubagent("two"), say("done")], child: good },
    { limits: { runsPerTree: 1 } },
  );
  await (await runs.errand.openAgent()).postAndAwait("go");
  expect(toolJson(parentRequests(runs.models)[2])).toMatchObject({ success: false, run_id: null, reason: "run-limit" });
  const tokens = await openTestErrand(
    {
      parent: [
        callTools([{ name: "subagent", input: { task: "one" } }], { usage: { input: 99_000, output: 2_000 } }),
        say("never asked"),
      ],
      child: good,
    },
    { limits: { tokensPerTree: 100_000 } },
  );
  const agent = await tokens.errand.openAgent();
  await expect(agent.postAndAwait("go")).rejects.toMatchObject({ details: { reason: "token-limit" } });
  expect(await tokens.errand.listRuns()).toEqual([]);
  const events = await eventsNow(tokens.errand, agent.id);
  expect(JSON.stringify(events.map((event) => event.texts))).toContain(
    "token limit reached (100000 tokens in this tree)",
  );
});

test("scenario 23: with a cap of N, 2N spawns of one reply never have more than N live, and none is lost", async () => {
  let live = 0;
  let most = 0;
  const child: Script = async (_request, { replies }) => {
    if (replies > 0) return say("done");
    live += 1;
    most = Math.max(most, live);
    await new Promise((resolve) => setImmediate(resolve));
    live -= 1;
    return report("found");
  };
  const { errand, models } = await openTestErrand({ parent: [subagents(16), say("all")], child });
  await (await errand.openAgent()).postAndAwait("go");
  expect(most).toBe(8);
  const results = toolResults(parentRequests(models)[1]);
  expect(results).toHaveLength(16);
  for (const result of results) expect(JSON.parse(result.text)).toMatchObject({ success: true, summary: "found" });
});

test("scenario 24: at the depth limit a child does not see the tools, and their calls are refused", async () => {
  const { errand, models } = await openTestErrand({
    parent: [callSubagent("outer"), say("done")],
    child: byContext([
      callSubagent("inner"),
      callSubagent("inner"),
      startRuns(startCall("inner")),
      report("no"),
      say("done"),
    ]),
  });
  await (await errand.openAgent()).postAndAwait("go");
  const [first, second, third, fourth] = childRequests(models);
  const names = first?.tools.map((tool) => tool.name) ?? [];
  expect(names).not.toContain("subagent");
  expect(names).not.toContain("start_background_agent");
  expect(names).toContain("send_agent_message");
  expect(first?.system).not.toContain("subagent,");
  expect(toolResults(second)[0]?.text).toBe(toolResults(third)[0]?.text);
  expect(toolJson(fourth)).toMatchObject({ status: "refused", reason: "depth-limit" });
  expect(await errand.listRuns()).toHaveLength(1);
});

test("scenario 25: the tree's cap on runs binds tools, the API and later processes", async () => {
  const store = join(temporaryFolder(), "errand.db");
  const limits = { maxDepth: 3, runsPerTree: 12 };
  const child: Script = (_request, { replies }) =>
    replies === 0 ? subagents(5) : replies === 1 ? report("r") : say("done");
  const first = await openTestErrand({ parent: [subagents(5), say("done")], child }, { store, limits });
  const agent = await first.errand.openAgent();
  await agent.postAndAwait("go");
  expect(await first.errand.listRuns()).toHaveLength(12);
  const refused = childRequests(first.models)
    .flatMap(toolResults)
    .filter(({ text }) => text.includes("run-limit"));
  expect(refused.length).toBeGreaterThan(0);
  await expect(agent.spawn({ task: "one more" })).rejects.toThrow(/run limit reached/);
  await first.errand.close();
  const second = await openTestErrand({ parent: [callSubagent("another"), say("done")], child }, { store, limits });
  const again = await second.errand.agent(agent.id);
  await expect(again.spawn({ task: "one more" })).rejects.toThrow(/run limit reached/);
  await again.postAndAwait("more");
  expect(toolJson(parentRequests(second.models)[1])).toMatchObject({ reason: "run-limit", run_id: null });
  expect(await second.errand.listRuns()).toHaveLength(12);
});

test("scenario 28: a ping-pong of messages is ended by the turn budget, and recorded", async () => {
  const world = createTestWorld();
  const channel = createMemoryChannel();
  const parent: Script = (request, { number }) => {
    if (number === 1) return startRuns(startCall("ping", { announce: "each" }));
    const last = request.messages.at(-1);
    const child = /"agent_id\\*":\\*"([0-9a-f-]{36})/.exec(requestJson(request))?.[1] ?? "";
    const asked = last?.role === "user" && last.text.includes("<system_message");
    return asked
      ? callTools([{ name: "send_agent_message", input: { text: "pong", agentId: child } }])
      : say("NO_REPLY");
  };
  const child: Script = async (request) => {
    if (request.messages.at(-1)?.role === "user") return report("ping");
    await new Promise<void>((resolve) => void world.after(100, resolve));
    return say("NO_REPLY");
  };
  const { errand } = await openTestErrand({ parent, child }, { world, limits: { agentTurns: 5 } });
  const agent = await errand.openAgent({ channel });
  await agent.post("go");
  await world.advance(5_000);
  const events = await eventsNow(errand, agent.id);
  const sent = acceptedFacts(events, "message-sent").length;
  expect(sent).toBeGreaterThan(5);
  expect(JSON.stringify(events.map((event) => event.facts))).toContain('"turn-limit"');
  await world.advance(60_000);
  expect(acceptedFacts(await eventsNow(errand, agent.id), "message-sent").length).toBeLessThan(sent + 5);
});
