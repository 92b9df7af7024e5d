import { expect, test } from "vitest";
import {
  byContext,
  callTool,
  callTools,
  createMemoryChannel,
  hang,
  say,
  type ScriptedReply,
} from "../../src/testing/index.ts";
import {
  childRequests,
  newestUserText,
  parentRequests,
  requestJson,
  toolJson,
  toolResults,
} from "../support/model-requests.ts";
import { callSubagent, report, startCall, startRuns } from "../support/scripted-replies.ts";
import { acceptedFacts, eventsNow } from "../support/tree-facts.ts";
import { openTestErrand } from "../support/test-errand.ts";
import { createTestWorld } from "../support/test-world.ts";

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test("D1: start_background_agent answers accepted with the ids of a run that is in the store", async () => {
  const { errand, models } = await openTestErrand({
    parent: [startRuns(startCall("a")), say("started")],
    child: [hang()],
  });
  const agent = await errand.openAgent();
  await agent.postAndAwait("go");
  const answer = toolJson(parentRequests(models)[1]);
  expect(Object.keys(answer)).toEqual(["status", "run_id", "agent_id"]);
  expect(answer["status"]).toBe("accepted");
  const run = await errand.getRun(String(answer["run_id"]));
  expect(run.agent).toBe(answer["agent_id"]);
});

test("D1: an unusable request is refused with a reason and an error, and makes no run", async () => {
  const { errand, models } = await openTestErrand(
    {
      parent: [
        startRuns(startCall("   "), startCall("b", { agent: "nobody" }), startCall("c", { model: "scripted/none" })),
        say("none of them"),
      ],
    },
    {},
  );
  const agent = await errand.openAgent();
  await agent.postAndAwait("go");
  const answers = toolResults(parentRequests(models)[1]).map(({ text }) => JSON.parse(text) as Record<string, unknown>);
  for (const answer of answers) expect(Object.keys(answer)).toEqual(["status", "reason", "error"]);
  expect(answers.map((answer) => answer["status"])).toEqual(["refused", "refused", "refused"]);
  expect(answers[1]?.["error"]).toContain('"nobody"');
  expect(answers[2]?.["error"]).toContain("scripted/none");
  expect(await errand.listRuns()).toEqual([]);
  expect(childRequests(models)).toEqual([]);
  expect(acceptedFacts(await eventsNow(errand, agent.id), "run-created")).toEqual([]);
});

test("D1: depth, runs and budget that are used up refuse a background run with their reason", async () => {
  const nested = await openTestErrand({
    parent: [startRuns(startCall("a")), say("started"), say("told")],
    child: [startRuns(startCall("deeper")), report("could not"), say("done")],
  });
  const channel = createMemoryChannel();
  await (await nested.errand.openAgent({ channel })).post("go");
  await channel.received(2);
  expect(toolJson(childRequests(nested.models)[1])).toEqual({
    status: "refused",
    reason: "depth-limit",
    error: "depth limit reached (max_depth 1)",
  });
  const few = await openTestErrand(
    { parent: [startRuns(startCall("a"), startCall("b")), say("one")], child: () => hang() },
    { limits: { runsPerTree: 1 } },
  );
  await (await few.errand.openAgent()).postAndAwait("go");
  const [first, second] = toolResults(parentRequests(few.models)[1]);
  expect(first?.text).toContain("accepted");
  expect(JSON.parse(second?.text ?? "")).toMatchObject({ status: "refused", reason: "run-limit" });
  expect(await few.errand.listRuns()).toHaveLength(1);
  const poor = await openTestErrand(
    { parent: [callTools([startCall("a")], { usage: { input: 99_000, output: 2_000 } })] },
    { limits: { tokensPerTree: 100_000 } },
  );
  const agent = await poor.errand.openAgent();
  await expect(agent.postAndAwait("go")).rejects.toMatchObject({ code: "turn-failed" });
  expect(await poor.errand.listRuns()).toEqual([]);
  const texts = JSON.stringify((await eventsNow(poor.errand, agent.id)).map((event) => event.texts));
  expect(texts).toContain("token-limit");
});

test("D2: the record of a run has agents, task, times, outcome, usage and delivery", async () => {
  const world = createTestWorld();
  const { errand } = await openTestErrand(
    {
      parent: [
        startRuns(startCall("look it up", { label: "lookup", group: "g", timeout_seconds: 60 })),
        say("ok"),
        say("told"),
      ],
      child: byContext([report("found"), say("done")]),
    },
    { world },
  );
  const agent = await errand.openAgent();
  await agent.post("go");
  await world.advance(1_000);
  const [run] = await errand.listRuns();
  expect(run).toMatchObject({
    parent: 0,
    mode: "background",
    name: "lookup",
    state: "ended",
    status: "ok",
    report: "tool",
    group: "g",
    cleanup: "keep",
    delivery: "placed",
  });
  expect(run?.id).toMatch(UUID_V7);
  expect(run?.agent).toMatch(UUID_V7);
  expect(run?.tokens).toBeGreaterThan(0);
  expect(run?.deadline).toBe((run?.startedAt ?? 0) + 60_000);
  expect(run?.endedAt).toBeGreaterThanOrEqual(run?.startedAt ?? Infinity);
  expect(await errand.result(run?.id ?? "")).toBe("found");
});

test("D2: a run is queued, running, then ended; it is waiting while it waits for its own child", async () => {
  const { errand } = await openTestErrand(
    {
      parent: [callSubagent("outer"), say("done")],
      child: (_request, { task, replies }) =>
        task === "outer" && replies === 0
          ? callSubagent("inner")
          : replies < 2 && task === "outer"
            ? report("o")
            : inner(replies),
    },
    { limits: { maxDepth: 2, liveChildren: 1 } },
  );
  const agent = await errand.openAgent();
  await agent.postAndAwait("go");
  const events = await eventsNow(errand, agent.id);
  const path = events
    .flatMap((event) => event.facts)
    .flatMap((fact) => {
      if (!("run" in fact) || fact.run !== 1) return [];
      if (fact.type === "run-state-changed") return [fact.state];
      return ["run-created", "run-started", "run-ended"].includes(fact.type) ? [fact.type] : [];
    });
  expect(path).toEqual(["run-created", "run-started", "waiting", "running", "run-ended"]);
});

function inner(replies: number): ReturnType<typeof say> {
  return replies === 0 ? report("i") : say("done");
}

test("D11: each open or undelivered child is one line after the newest input, and not in history", async () => {
  const world = createTestWorld();
  const { errand, models } = await openTestErrand(
    {
      parent: [startRuns(startCall("slow one"), startCall("slow two")), say("started"), say("yes"), say("no")],
      child: () => hang(),
    },
    { world },
  );
  const agent = await errand.openAgent();
  await agent.post("go");
  await world.advance(5_000);
  await agent.post("how is it?");
  await world.advance(1_000);
  await agent.post("and now?");
  await world.advance(1_000);
  const runs = await errand.listRuns();
  const [, , second, third] = parentRequests(models);
  const lines = newestUserText(second)
    .split("\n")
    .filter((line) => line.startsWith("[run "));
  expect(newestUserText(second).startsWith("how is it?\n")).toBe(true);
  expect(newestUserText(second).endsWith(lines.at(-1) ?? "?")).toBe(true);
  expect(lines).toHaveLength(2);
  for (const [index, run] of runs.entries()) {
    expect(lines[index]).toContain(run.id);
    expect(lines[index]).toContain(run.name);
    expect(lines[index]).toContain("running 5s");
    expect(requestJson(third).split(run.id)).toHaveLength(requestJson(second).split(run.id).length);
  }
  expect(requestJson(third)).not.toContain("running 5s");
});

test("D11: a run has no line beside its own acceptance, also if a model gives each call the same id", async () => {
  const same = (task: string): ScriptedReply => callTool("start_background_agent", { task }, "call");
  const { errand, models } = await openTestErrand({
    parent: [same("first"), same("second"), say("started")],
    child: () => hang(),
  });
  const agent = await errand.openAgent();
  await agent.postAndAwait("go");
  const [first, second] = await errand.listRuns();
  const [, afterFirst, afterSecond] = parentRequests(models);
  expect(afterFirst?.messages.at(-1)?.role).toBe("tool");
  expect(newestUserText(afterSecond)).toContain(`[run ${first?.id} `);
  expect(newestUserText(afterSecond)).not.toContain(`[run ${second?.id} `);
});

test("D11: a child that has ended and was not announced yet is still listed", async () => {
  const { errand, models } = await openTestErrand(
    {
      parent: [startRuns(startCall("quick"), startCall("slow")), say("started"), say("noted")],
      child: (_request, { task, replies }) => (task === "slow" ? hang() : inner(replies)),
    },
    {},
  );
  const agent = await errand.openAgent();
  await agent.postAndAwait("go");
  for await (const event of errand.journal(agent.id)) if (event.facts.some((fact) => fact.type === "run-ended")) break;
  await agent.postAndAwait("more");
  const lines = newestUserText(parentRequests(models).at(-1))
    .split("\n")
    .filter((line) => line.startsWith("[run "));
  expect(lines).toHaveLength(2);
  expect(lines[0]).toContain("ended, its result will follow");
  expect(lines[1]).toContain("running");
});

test("D12: a child with live children waits, and a grandchild's result goes to its own parent only", async () => {
  const channel = createMemoryChannel();
  const { errand, models } = await openTestErrand(
    {
      parent: [startRuns(startCall("outer")), say("started"), say("told")],
      child: (request, { task, replies }) => {
        if (task === "inner") return replies === 0 ? report("INNER RESULT") : say("done");
        if (replies === 0) return startRuns(startCall("inner"));
        if (replies === 1) return say("waiting for it");
        return requestJson(request).includes("OUTER RESULT") ? say("done") : report("OUTER RESULT");
      },
    },
    { limits: { maxDepth: 2 } },
  );
  const agent = await errand.openAgent({ channel });
  await agent.post("go");
  await channel.received(2);
  const events = await eventsNow(errand, agent.id);
  expect(acceptedFacts(events, "run-state-changed").find(({ run }) => run === 1)?.state).toBe("waiting");
  expect(acceptedFacts(events, "run-ended").map(({ run }) => run)).toEqual([2, 1]);
  const outer = childRequests(models).filter((request) => newestUserText(request).includes("INNER RESULT"));
  expect(outer.length).toBeGreaterThan(0);
  for (const request of parentRequests(models)) expect(requestJson(request)).not.toContain("INNER RESULT");
  expect(newestUserText(parentRequests(models).at(-1))).toContain("OUTER RESULT");
});
