import { expect, test } from "vitest";
import { byContext, callTool, createMemoryChannel, fail, hang, say } from "../../src/testing/index.ts";
import { delegationCall, runDelegation } from "../support/run-delegation.ts";
import { gate, report } from "../support/scripted-replies.ts";
import { allFacts, eventsNow, eventsUntilFacts, factsOfType } from "../support/tree-facts.ts";
import { lookTool, openTestErrand, temporaryStore } from "../support/test-errand.ts";
import { createTestWorld } from "../support/test-world.ts";

test("A1: a child knows its parent and has no channel; its own child is one level deeper", async () => {
  const done = await runDelegation(
    "awaited",
    (_request, { task, replies }) => {
      if (task === "deeper") return replies === 0 ? report("deep") : say("bottom words");
      return [callTool("subagent", { task: "deeper" }), report("up"), say("child words")][replies] ?? fail();
    },
    { limits: { maxDepth: 2 } },
  );
  const created = factsOfType(done.facts, "run-created");
  expect(created.map(({ run, parent }) => ({ run, parent }))).toEqual([
    { run: 1, parent: 0 },
    { run: 2, parent: 1 },
  ]);
  const [middle, bottom] = [
    done.child[0],
    done.child.find((request) => request.system.includes(created[1]?.agent ?? "?")),
  ];
  expect(middle?.system).toContain(`parent agent (id ${done.root})`);
  expect(bottom?.system).toContain(`parent agent (id ${created[0]?.agent})`);
  expect(middle?.tools.map((tool) => tool.name)).toContain("subagent");
  expect(bottom?.tools.map((tool) => tool.name)).not.toContain("subagent");
  expect(factsOfType(done.facts, "channel-sent").every((fact) => fact.agent === 0)).toBe(true);
  expect(done.channel.messages.map((message) => message.text)).toEqual(["parent line 1"]);
});

test("A1: a child is closed when its run ends", async () => {
  const { errand, run } = await runDelegation("background", [report("done"), say("end")]);
  const child = await errand.agent(run.agent);
  await expect(child.post("still there?")).rejects.toMatchObject({ code: "agent-unknown" });
});

test("A1: a background agent that is no child has no channel either", async () => {
  const channel = createMemoryChannel();
  const { errand } = await openTestErrand({ parent: [say("into the void")] });
  const agent = await errand.openAgent({ kind: "background", channel });
  expect((await agent.postAndAwait("hello")).text).toBe("into the void");
  expect(factsOfType(allFacts(await eventsNow(errand, agent.id)), "channel-sent")).toEqual([]);
  expect(channel.messages).toEqual([]);
});

test("A2: a posted message is durable: killed right after, it is answered by the next process", async () => {
  const store = temporaryStore();
  const first = await openTestErrand({ parent: [hang()] }, { store });
  const agent = await first.errand.openAgent();
  const { id } = await agent.post("remember me");
  await first.errand.close({ withinMs: 0 });
  const second = await openTestErrand({ parent: (_request, { newest }) => say(`heard: ${newest}`) }, { store });
  const again = await second.errand.agent(agent.id);
  expect((await again.postAndAwait("remember me", { id })).text).toBe("heard: remember me");
});

test("A2: asking again with the same id after a restart gives the same result, and asks no model", async () => {
  const store = temporaryStore();
  const first = await openTestErrand({ parent: [say("the answer")] }, { store });
  const agent = await first.errand.openAgent();
  expect((await agent.postAndAwait("question", { id: "q" })).text).toBe("the answer");
  await first.errand.close({ withinMs: 0 });
  const second = await openTestErrand({ parent: [say("another answer")] }, { store });
  const again = await second.errand.agent(agent.id);
  expect((await again.postAndAwait("question", { id: "q" })).text).toBe("the answer");
  expect(second.models.requests).toEqual([]);
});

test("A2: after a restart a failure is still a failure for a repeated message", async () => {
  const store = temporaryStore();
  const first = await openTestErrand({ parent: [fail({ message: "no credit" })] }, { store });
  const agent = await first.errand.openAgent();
  const failure = { code: "turn-failed", details: { reason: "provider-error" } };
  await expect(agent.postAndAwait("question", { id: "q" })).rejects.toMatchObject(failure);
  await first.errand.close({ withinMs: 0 });
  const second = await openTestErrand({ parent: [say("fine")] }, { store });
  await expect((await second.errand.agent(agent.id)).postAndAwait("question", { id: "q" })).rejects.toMatchObject(
    failure,
  );
});

test.each([
  ["provider-error", fail()],
  ["context-overflow", fail({ code: "context-overflow" })],
  ["aborted", fail({ code: "aborted" })],
  ["refused", say("partly", { stop: "refused" })],
])("A2: waiting rejects on a turn that ended by %s", async (reason, reply) => {
  const { errand } = await openTestErrand({ parent: [reply] });
  const agent = await errand.openAgent();
  await expect(agent.postAndAwait("hello")).rejects.toMatchObject({ code: "turn-failed", details: { reason } });
});

test("A2: waiting rejects when the turn is cancelled", async () => {
  const { errand } = await openTestErrand({ parent: [hang()] });
  const agent = await errand.openAgent();
  const { id } = await agent.post("hello");
  const waiting = expect(agent.postAndAwait("hello", { id })).rejects.toMatchObject({
    code: "turn-failed",
    details: { outcome: "cancelled" },
  });
  await eventsUntilFacts(errand, agent.id, "model-called");
  await agent.cancel();
  await waiting;
});

test("A2: waiting rejects when the agent is closed before it has answered", async () => {
  const { errand } = await openTestErrand({ parent: [hang()] });
  const agent = await errand.openAgent();
  const { id } = await agent.post("hello");
  const waiting = expect(agent.postAndAwait("hello", { id })).rejects.toMatchObject({ code: "turn-failed" });
  await eventsUntilFacts(errand, agent.id, "model-called");
  await agent.close();
  await waiting;
});

test("A2: waiting for a child rejects when its run ends before it has answered", async () => {
  const { errand } = await openTestErrand({
    parent: [delegationCall("background"), say("started"), say("gone")],
    child: [hang()],
  });
  const agent = await errand.openAgent();
  await agent.postAndAwait("go");
  const [run] = await errand.listRuns();
  const child = await errand.agent(run?.agent ?? "");
  const { id } = await child.post("how far are you?");
  const waiting = expect(child.postAndAwait("how far are you?", { id })).rejects.toMatchObject({ code: "turn-failed" });
  expect(await errand.cancel(run?.id ?? "")).toBe(true);
  await waiting;
});

test("A2: waiting for a child is answered also when its turn ends by the report it was nudged for", async () => {
  const world = createTestWorld();
  const held = gate();
  const { errand } = await openTestErrand(
    {
      parent: [delegationCall("background"), say("started"), say("told")],
      child: byContext([callTool("look", {}), say("I looked"), report("late report"), say("unused")]),
    },
    { world, tools: [lookTool(async () => held.passed.then(() => ({ text: "seen", failed: false })))] },
  );
  const agent = await errand.openAgent();
  await agent.postAndAwait("go");
  const [run] = await errand.listRuns();
  const child = await errand.agent(run?.agent ?? "");
  await child.post("hurry", { id: "h", kind: "steer" });
  const waiting = child.postAndAwait("hurry", { id: "h", kind: "steer" }).catch((error: unknown) => error);
  held.open();
  await eventsUntilFacts(errand, agent.id, "run-ended");
  await world.advance(600_000);
  expect(await waiting).toMatchObject({ silent: false });
});

test("A2: waiting rejects after 600 s by default; the turn continues, and asking again gives its result", async () => {
  const world = createTestWorld();
  const held = gate();
  const { errand } = await openTestErrand({ parent: () => held.passed.then(() => say("at last")) }, { world });
  const agent = await errand.openAgent();
  let rejected: unknown = null;
  const waiting = agent.postAndAwait("hello", { id: "m" }).catch((error: unknown) => {
    rejected = error;
  });
  await world.advance(599_000);
  expect(rejected).toBeNull();
  await world.advance(1_000);
  await waiting;
  expect(rejected).toMatchObject({ code: "turn-timeout" });
  held.open();
  expect((await agent.postAndAwait("hello", { id: "m" })).text).toBe("at last");
});

test("A2: waiting is refused for a silent message", async () => {
  const { errand, models } = await openTestErrand({ parent: [] });
  const agent = await errand.openAgent();
  const refused = agent.postAndAwait("psst", { kind: "system", silent: true });
  await expect(refused).rejects.toMatchObject({ code: "silent-await" });
  expect(models.requests).toEqual([]);
});
