import { join } from "node:path";
import { expect, test } from "vitest";
import type { Tool } from "../../src/index.ts";
import {
  byContext,
  callTool,
  callTools,
  createMemoryChannel,
  hang,
  say,
  type Script,
} from "../../src/testing/index.ts";
import { childRequests, newestUserText, parentRequests, requestJson, toolJson } from "../support/model-requests.ts";
import { callSubagent, report, startCall, startRuns } from "../support/scripted-replies.ts";
import { acceptedFacts, eventsNow } from "../support/tree-facts.ts";
import { eventsUntil, lookTool, openTestErrand, temporaryFolder } from "../support/test-errand.ts";
import { createTestWorld } from "../support/test-world.ts";

test("scenario 21: a timeout aborts model and tools, no later write counts, partial findings are kept", async () => {
  const world = createTestWorld();
  const aborted: string[] = [];
  const late: (() => void)[] = [];
  const tool: Tool = lookTool(
    (_input, { signal }) =>
      new Promise((resolve) => {
        signal.addEventListener("abort", () => aborted.push("tool"));
        late.push(() => resolve({ text: "TOO LATE", failed: false }));
      }),
  );
  const child: Script = (_request, { task, signal, replies }) => {
    if (task === "in a tool" && replies === 0) return callTools([{ name: "look", input: {} }], { text: "half of it" });
    signal.addEventListener("abort", () => aborted.push("model"));
    return new Promise((resolve) => late.push(() => resolve(report("TOO LATE"))));
  };
  const { errand, models } = await openTestErrand(
    {
      parent: [
        callTools(
          ["in a tool", "in a call"].map((task) => ({ name: "subagent", input: { task, timeout_seconds: 5 } })),
        ),
        say("done"),
      ],
      child,
    },
    { world, tools: [tool] },
  );
  const agent = await errand.openAgent();
  await agent.post("go");
  await world.advance(5_100);
  expect(aborted.toSorted()).toEqual(["model", "tool"]);
  const answers = parentRequests(models)[1]?.messages.at(-1);
  const payloads = answers?.role === "tool" ? answers.results.map(({ text }) => JSON.parse(text) as unknown) : [];
  expect(payloads).toMatchObject([
    { success: false, timed_out: true, summary: "half of it", report: "salvaged" },
    { success: false, timed_out: true, summary: "(no output)", report: "missing" },
  ]);
  const before = await eventsNow(errand, agent.id);
  for (const finish of late) finish();
  await world.advance(1_000);
  const after = await eventsNow(errand, agent.id);
  expect(JSON.stringify(after)).not.toContain("TOO LATE");
  expect(acceptedFacts(after, "run-ended")).toEqual(acceptedFacts(before, "run-ended"));
});

test("scenario 22: with timeout T and a restart at T/2 the deadline counts from the original start", async () => {
  const world = createTestWorld();
  const store = join(temporaryFolder(), "errand.db");
  const parent: Script = byContext([
    startRuns(startCall("slow", { timeout_seconds: 100 })),
    say("started"),
    say("told"),
  ]);
  const first = await openTestErrand({ parent, child: () => hang() }, { store, world });
  const agent = await first.errand.openAgent();
  await agent.post("go");
  await world.advance(50_000);
  const closed = first.errand.close({ withinMs: 0 });
  await world.advance(1);
  await closed;
  const second = await openTestErrand({ parent, child: () => hang() }, { store, world });
  await world.advance(49_000);
  expect((await second.errand.listRuns())[0]?.state).toBe("running");
  await world.advance(2_000);
  const [run] = await second.errand.listRuns();
  expect(run).toMatchObject({ state: "ended", status: "timeout" });
  expect((run?.endedAt ?? 0) - (run?.startedAt ?? 0)).toBe(100_000);
});

/** Runs with two levels below them: 1 + 2 + 2. */
const deep: Script = (_request, { task, replies }) => {
  if (replies > 0) return hang();
  if (task === "root") return startRuns(startCall("mid a"), startCall("mid b"));
  return task.startsWith("mid") ? startRuns(startCall("leaf")) : hang();
};

test("scenario 26: cancelling a run ends all runs below it, reports the count and stops their calls", async () => {
  const world = createTestWorld();
  const parent: Script = (request, { number }) => {
    if (number === 1) return startRuns(startCall("root"), startCall("other"));
    if (number === 2) return say("started");
    const id = /"run_id\\*":\\*"([0-9a-f-]{36})/.exec(requestJson(request))?.[1] ?? "";
    return number === 3 || number === 4 ? callTool("cancel_run", { run_id: id }) : say("NO_REPLY");
  };
  const { errand, models } = await openTestErrand({ parent, child: deep }, { world, limits: { maxDepth: 3 } });
  const agent = await errand.openAgent();
  await agent.post("go");
  await world.advance(1_000);
  expect((await errand.listRuns()).map((run) => run.name)).toEqual(["root", "other", "mid a", "mid b", "leaf", "leaf"]);
  const calls = childRequests(models).length;
  await agent.post("stop it");
  await world.advance(10_000);
  expect(toolJson(parentRequests(models)[3])).toEqual({ status: "cancelled", cancelled: 5 });
  expect(toolJson(parentRequests(models)[4])).toEqual({ status: "already_ended", cancelled: 0 });
  const runs = await errand.listRuns();
  expect(runs.filter((run) => run.status === "cancelled").map((run) => run.name)).toHaveLength(5);
  expect(runs.find((run) => run.name === "other")?.state).toBe("running");
  expect(childRequests(models)).toHaveLength(calls);
});

test("scenario 26: cancelling an agent ends its turn and every run below it", async () => {
  const { errand } = await openTestErrand(
    { parent: [startRuns(startCall("root")), callSubagent("awaited")], child: deep },
    { limits: { maxDepth: 3 } },
  );
  const agent = await errand.openAgent();
  const reply = expect(agent.postAndAwait("go")).rejects.toMatchObject({ details: { outcome: "cancelled" } });
  let made = 0;
  await eventsUntil(errand, agent.id, (event) => {
    made += event.facts.filter((fact) => fact.type === "run-started").length;
    return made === 6;
  });
  await agent.cancel();
  await reply;
  const runs = await errand.listRuns();
  expect(runs).toHaveLength(6);
  expect(new Set(runs.map((run) => `${run.state} ${run.status}`))).toEqual(new Set(["ended cancelled"]));
});

test("scenario 27: 1,000 races of a kill and a completion give one outcome each and lose no report", async () => {
  const count = 1_000;
  const { errand } = await openTestErrand(
    {
      parent: () => say("NO_REPLY"),
      child: (_request, { task, replies }) => (replies === 0 ? report(`result of ${task}`) : say("done")),
    },
    { limits: { runsPerTree: count, liveChildren: 64 } },
  );
  const agent = await errand.openAgent();
  let random = 7;
  const next = (below: number): number => {
    random = (random * 48_271) % 2_147_483_647;
    return random % below;
  };
  const kills: boolean[] = [];
  for (let begun = 0; begun < count; begun += 50) {
    await Promise.all(
      Array.from({ length: 50 }, async (_, index) => {
        const run = await agent.spawn({ task: `t${begun + index}` });
        for (let turns = next(8); turns > 0; turns -= 1) await new Promise((resolve) => setImmediate(resolve));
        kills.push(await errand.cancel(run.id));
      }),
    );
  }
  const runs = await errand.listRuns({ limit: count + 1 });
  const events = await eventsNow(errand, agent.id);
  const ended = acceptedFacts(events, "run-ended");
  expect(ended).toHaveLength(count);
  expect(new Set(ended.map((fact) => fact.run)).size).toBe(count);
  expect(runs.filter((run) => run.status === "cancelled")).toHaveLength(kills.filter(Boolean).length);
  expect(runs.filter((run) => run.status === "ok").length + kills.filter(Boolean).length).toBe(count);
  expect(kills.filter(Boolean).length).toBeGreaterThan(10);
  expect(kills.filter((kill) => !kill).length).toBeGreaterThan(10);
  const reported = new Set(acceptedFacts(events, "run-reported").map((fact) => fact.run));
  for (const run of runs) {
    expect(run.report).toBe(reported.has(run.number) ? "tool" : "missing");
    if (reported.has(run.number)) expect(await errand.result(run.id)).toBe(`result of ${run.name}`);
  }
}, 60_000);

test("scenario 29: an unavailable model override is refused with the reason; no other is called", async () => {
  const { errand, models } = await openTestErrand({
    parent: [startRuns(startCall("x", { model: "acme/missing" })), say("I see")],
    child: byContext([report("r"), say("done")]),
  });
  const agent = await errand.openAgent();
  await agent.postAndAwait("go");
  const answer = toolJson(parentRequests(models)[1]);
  expect(answer["status"]).toBe("refused");
  expect(answer["error"]).toContain("acme/missing");
  expect(childRequests(models)).toEqual([]);
  await expect(agent.spawn({ task: "x", model: "acme/missing" })).rejects.toThrow(/acme\/missing/);
  expect(await errand.listRuns()).toEqual([]);
});

test("scenario 29: a model override that can be had is the one that is called", async () => {
  const channel = createMemoryChannel();
  const { errand, models } = await openTestErrand({
    parent: (_request, { task, replies }) => {
      if (task === "x") return replies === 0 ? report("by the parent's model") : say("done");
      return replies === 0 ? startRuns(startCall("x", { model: "scripted/parent" })) : say("ok");
    },
    child: [],
  });
  await (await errand.openAgent({ channel })).post("go");
  await channel.received(2);
  expect(childRequests(models)).toEqual([]);
  expect((await errand.listRuns())[0]?.status).toBe("ok");
});

test.each(["the user", "its parent"])(
  "scenario 30: %s steers a running child, which sees it before its next iteration",
  async (who) => {
    const looking = Promise.withResolvers<void>();
    const looked = Promise.withResolvers<void>();
    const tool = lookTool(async () => {
      looking.resolve();
      await looked.promise;
      return { text: "saw it", failed: false };
    });
    const channel = createMemoryChannel();
    const parent: Script = (request, { number }) => {
      if (number === 1) return startRuns(startCall("x"));
      const id = /"run_id\\*":\\*"([0-9a-f-]{36})/.exec(requestJson(request))?.[1] ?? "";
      return who === "its parent" && number === 3
        ? callTool("steer_run", { run_id: id, text: "turn left" })
        : say(`${number}`);
    };
    const { errand, models } = await openTestErrand(
      { parent, child: byContext([callTool("look", {}), report("r"), say("done")]) },
      { tools: [tool] },
    );
    const agent = await errand.openAgent({ channel });
    await agent.postAndAwait("go");
    await looking.promise;
    const [run] = await errand.listRuns();
    if (who === "its parent") await agent.postAndAwait("tell it");
    else await (await errand.agent(run?.agent ?? "")).post("turn left", { kind: "steer" });
    expect(childRequests(models)).toHaveLength(1);
    looked.resolve();
    await eventsUntil(errand, agent.id, (event) => event.facts.some((fact) => fact.type === "run-ended"));
    const second = childRequests(models)[1];
    expect(newestUserText(second)).toContain("turn left");
    expect(second?.messages.map((message) => message.role)).toEqual(["user", "assistant", "tool", "user"]);
    if (who === "its parent") expect(toolJson(parentRequests(models)[3])).toEqual({ status: "sent" });
  },
);
