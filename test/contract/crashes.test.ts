import { expect, test } from "vitest";
import { byContext, callTool, createMemoryChannel, hang, say } from "../../src/testing/index.ts";
import { newestUserText, occurrences, requestText, toolText } from "../support/model-requests.ts";
import { delegationCall } from "../support/run-delegation.ts";
import { gate, report, startSeveral } from "../support/scripted-replies.ts";
import { allFacts, eventsNow, eventsUntilFacts, factsOfType } from "../support/tree-facts.ts";
import { eventsUntil, lookTool, openTestErrand, temporaryStore, turnsEnded } from "../support/test-errand.ts";
import { createTestWorld } from "../support/test-world.ts";

const reporting = byContext([report("found it"), say("end")]);

test("scenario 4: a child that had ended before the kill is announced once after the restart", async () => {
  const store = temporaryStore();
  const first = await openTestErrand({ parent: [delegationCall("background"), hang()], child: reporting }, { store });
  const agent = await first.errand.openAgent();
  await agent.post("go");
  await eventsUntilFacts(first.errand, agent.id, "run-ended");
  await first.errand.close({ withinMs: 0 });
  const channel = createMemoryChannel();
  const second = await openTestErrand({ parent: [say("started"), say("told"), say("unused")] }, { store });
  await second.errand.agent(agent.id, { channel });
  await eventsUntil(second.errand, agent.id, turnsEnded(2));
  const parent = second.models.model("scripted/parent").requests;
  expect(parent).toHaveLength(2);
  expect(occurrences(newestUserText(parent[0]), "found it")).toBe(0);
  expect(occurrences(newestUserText(parent[1]), "found it")).toBe(1);
  expect((await second.errand.listRuns())[0]).toMatchObject({ status: "ok", delivery: "placed" });
  await second.errand.close({ withinMs: 0 });
  const third = await openTestErrand({ parent: [say("again?")] }, { store });
  expect(third.errand.recovered).toBe(0);
  expect(third.models.requests).toEqual([]);
});

test("scenario 5: a kill in the announcement's turn continues it; a kill after it does not repeat it", async () => {
  const store = temporaryStore();
  const first = await openTestErrand(
    { parent: [delegationCall("background"), say("started"), hang()], child: reporting },
    { store },
  );
  const agent = await first.errand.openAgent();
  await agent.post("go");
  await eventsUntilFacts(first.errand, agent.id, "turn-started", 2);
  await first.errand.close({ withinMs: 0 });
  const channel = createMemoryChannel();
  const second = await openTestErrand({ parent: [say("told")] }, { store });
  await second.errand.agent(agent.id, { channel });
  const events = await eventsUntil(second.errand, agent.id, turnsEnded(2));
  const [request, ...more] = second.models.requests;
  expect(more).toEqual([]);
  expect(occurrences(requestText(request), "found it")).toBe(1);
  expect(factsOfType(allFacts(events), "announcement-queued")).toHaveLength(1);
  expect(factsOfType(allFacts(events), "turn-started")).toHaveLength(2);
  await second.errand.close({ withinMs: 0 });
  const third = await openTestErrand({ parent: [say("later")] }, { store });
  expect(third.models.requests).toEqual([]);
  await (await third.errand.agent(agent.id)).postAndAwait("and now?");
  const all = requestText(third.models.requests[0]);
  expect([
    occurrences(all, "found it"),
    occurrences(all, "[Told of background tasks:"),
    occurrences(all, "told"),
  ]).toEqual([0, 1, 1]);
});

test("scenario 6: results that wait are delivered after a restart though nothing else happens", async () => {
  const store = temporaryStore();
  const world = createTestWorld();
  const script = (_request: unknown, at: { task: string; replies: number }) => {
    if (at.task === "hangs") return hang();
    return at.replies === 0 ? report("found it") : say("end");
  };
  const first = await openTestErrand(
    { parent: [startSeveral(["quick", "hangs"], { timeout_seconds: 900 }), say("started")], child: script },
    { store, world },
  );
  const agent = await first.errand.openAgent();
  await agent.post("go");
  await eventsUntilFacts(first.errand, agent.id, "run-ended");
  await first.errand.close({ withinMs: 0 });
  const second = await openTestErrand({ parent: [say("told")], child: [hang()] }, { store, world });
  await world.advance(299_000);
  expect(second.models.model("scripted/parent").requests).toHaveLength(0);
  await world.advance(2_000);
  const parent = second.models.model("scripted/parent").requests;
  expect(parent).toHaveLength(1);
  expect(newestUserText(parent[0])).toContain("found it");
  expect((await second.errand.listRuns()).map((run) => run.delivery)).toEqual(["placed", "open"]);
});

test("scenario 7: a killed child resumes, and its unsafe tool call is answered with an unknown outcome", async () => {
  const store = temporaryStore();
  const looking = gate();
  let ran = 0;
  const unsafe = lookTool(async () => {
    ran += 1;
    if (ran === 1) return { text: "first look", failed: false };
    looking.open();
    return new Promise(() => {});
  }, false);
  const first = await openTestErrand(
    {
      parent: [delegationCall("background"), say("started")],
      child: byContext([callTool("look", {}), callTool("look", {})]),
    },
    { store, tools: [unsafe] },
  );
  const agent = await first.errand.openAgent();
  await agent.post("go");
  await looking.passed;
  await eventsUntilFacts(first.errand, agent.id, "turn-ended");
  await first.errand.close({ withinMs: 0 });
  const second = await openTestErrand(
    { parent: [say("told")], child: (_request, { replies }) => (replies === 2 ? report("looked once") : say("end")) },
    { store, tools: [unsafe] },
  );
  await eventsUntil(second.errand, agent.id, turnsEnded(2));
  const [resumed] = second.models.model("scripted/child").requests;
  expect(resumed?.messages.map((message) => message.role)).toEqual(["user", "assistant", "tool", "assistant", "tool"]);
  expect(requestText(resumed)).toContain("first look");
  expect(toolText(resumed)).toContain("outcome unknown");
  expect(ran).toBe(2);
  expect((await second.errand.listRuns())[0]).toMatchObject({ status: "ok", report: "tool" });
});

test("scenario 17: a child killed between report and turn end gives its parent exactly one report", async () => {
  for (const mode of ["background", "awaited"] as const) {
    const store = temporaryStore();
    const first = await openTestErrand(
      { parent: byContext([delegationCall(mode), say("started")]), child: [report("found it"), hang()] },
      { store },
    );
    const agent = await first.errand.openAgent();
    await agent.post("go");
    await eventsUntilFacts(first.errand, agent.id, "run-reported");
    if (mode === "background") await eventsUntilFacts(first.errand, agent.id, "turn-ended");
    await first.errand.close({ withinMs: 0 });
    const second = await openTestErrand({ parent: [say("told")], child: [say("end")] }, { store });
    const events = await eventsUntil(second.errand, agent.id, turnsEnded(mode === "background" ? 2 : 1));
    expect(factsOfType(allFacts(events), "run-reported")).toHaveLength(1);
    expect(second.models.model("scripted/child").requests).toHaveLength(1);
    const parent = second.models.model("scripted/parent").requests;
    expect(parent).toHaveLength(1);
    expect(occurrences(requestText(parent[0]), "found it")).toBe(1);
    expect((await second.errand.listRuns())[0]).toMatchObject({ status: "ok", report: "tool", nudged: false });
  }
});

test("B8: under announce each, a kill between the report and the end tells the parent each of them once", async () => {
  const store = temporaryStore();
  const first = await openTestErrand(
    {
      parent: byContext([
        delegationCall("background", { announce: "each", label: "scout" }),
        say("started"),
        say("heard"),
      ]),
      child: [report("found it"), hang()],
    },
    { store },
  );
  const agent = await first.errand.openAgent();
  await agent.post("go");
  await eventsUntil(first.errand, agent.id, turnsEnded(2));
  await first.errand.close({ withinMs: 0 });
  const second = await openTestErrand({ parent: [say("later")], child: [say("end")] }, { store });
  await eventsUntilFacts(second.errand, agent.id, "run-ended");
  await (await second.errand.agent(agent.id)).postAndAwait("and now?");
  const all = requestText(second.models.model("scripted/parent").requests.at(-1));
  expect([occurrences(all, "found it"), occurrences(all, '"scout" completed successfully')]).toEqual([1, 1]);
});

test("B11: a child of a closed parent continues after a restart, and its result is kept", async () => {
  const store = temporaryStore();
  const first = await openTestErrand(
    { parent: [delegationCall("background"), say("started")], child: [hang()] },
    { store },
  );
  const agent = await first.errand.openAgent();
  await agent.postAndAwait("go");
  await agent.close();
  await first.errand.close({ withinMs: 0 });
  const second = await openTestErrand({ parent: [], child: reporting }, { store });
  await eventsUntilFacts(second.errand, agent.id, "run-undeliverable");
  const [run] = await second.errand.listRuns();
  expect(run).toMatchObject({ state: "ended", status: "ok", delivery: "undeliverable", report: "tool" });
  expect(await second.errand.result(run?.id ?? "")).toBe("found it");
  expect(factsOfType(allFacts(await eventsNow(second.errand, agent.id)), "announcement-queued")).toEqual([]);
});
