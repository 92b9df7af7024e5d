/** Rules F6 and B7: a root turn has a deadline of running time; time spent on children and on people does not count. */

import { expect, test } from "vitest";
import { replayVerdict, type Tool } from "../../src/index.ts";
import { createMemoryStore } from "../../src/stores/memory/memory-store.ts";
import { byContext, callTool, callTools, hang, say } from "../../src/testing/index.ts";
import { gate, report } from "../support/scripted-replies.ts";
import { allFacts, eventsNow, factsOfType } from "../support/tree-facts.ts";
import { lookTool, openTestErrand } from "../support/test-errand.ts";
import { createTestWorld } from "../support/test-world.ts";

const HOUR = 3_600_000;
const MINUTE = 60_000;
const failed = { code: "turn-failed", details: { reason: "turn-timeout", outcome: "failed" } };
const patient = { timeoutMs: 100 * HOUR };

function hanging(): { readonly tool: Tool; readonly aborted: () => boolean } {
  let aborted = false;
  const tool = lookTool((_input, { signal }) => {
    signal.addEventListener("abort", () => (aborted = true));
    return new Promise(() => undefined);
  });
  return { tool, aborted: () => aborted };
}

test("a model that never answers: turn and waiters fail after an hour; the next message is taken", async () => {
  const world = createTestWorld();
  const { errand } = await openTestErrand({ parent: [hang(), say("here again")] }, { world });
  const agent = await errand.openAgent();
  const first = expect(agent.postAndAwait("go", patient)).rejects.toMatchObject(failed);
  await world.rest();
  await world.skip(HOUR - 2_000);
  await world.advance(1_999);
  const second = agent.postAndAwait("still there?", patient);
  await world.advance(1);
  await first;
  await world.advance(1_000);
  expect(await second).toMatchObject({ text: "here again" });
  expect(replayVerdict(await errand.replay(agent.id))).toBe("proven");
});

test("a tool that never answers is aborted at the deadline, and the turn's own words say what to do", async () => {
  const world = createTestWorld();
  const { tool, aborted } = hanging();
  const { errand } = await openTestErrand(
    { parent: byContext([callTool("look", {}), say("unused")]) },
    { world, tools: [tool], limits: { turnSeconds: 60 } },
  );
  const agent = await errand.openAgent();
  const ended = expect(agent.postAndAwait("go", patient)).rejects.toThrow(/60 s.*limits\.turnSeconds/);
  await world.advance(MINUTE);
  await ended;
  expect(aborted()).toBe(true);
  const [turn] = factsOfType(allFacts(await eventsNow(errand, agent.id)), "turn-ended");
  expect(turn).toMatchObject({ outcome: "failed", reason: "turn-timeout" });
});

test("time that the turn spends on awaited children does not count, and calls beside them do", async () => {
  const world = createTestWorld();
  const done = gate();
  const { errand } = await openTestErrand(
    {
      parent: byContext([
        callTools([
          { name: "subagent", input: { task: "slow", timeout_seconds: 3_000 } },
          { name: "look", input: {} },
        ]),
        hang(),
      ]),
      child: async (_request, { replies }) => {
        await done.passed;
        return replies === 0 ? report("found") : say("end");
      },
    },
    {
      world,
      limits: { turnSeconds: 100 },
      tools: [
        lookTool(() => new Promise((resolve) => world.after(40_000, () => resolve({ text: "saw", failed: false })))),
      ],
    },
  );
  const agent = await errand.openAgent();
  let told: unknown;
  void agent.postAndAwait("go", patient).catch((error: unknown) => (told = error));
  await world.advance(41_000);
  await world.skip(2_000_000);
  expect(told).toBeUndefined();
  done.open();
  await world.advance(59_000);
  expect(told).toBeUndefined();
  await world.advance(2_000);
  expect(told).toMatchObject(failed);
});

test("time that the turn waits for a person does not count", async () => {
  const world = createTestWorld();
  const { errand } = await openTestErrand(
    { parent: byContext([callTool("look", {}), say("done")]) },
    { world, limits: { turnSeconds: 100 }, permissions: [{ decision: "ask", tool: "look" }] },
  );
  const agent = await errand.openAgent();
  const answer = agent.postAndAwait("go", patient);
  await world.advance(1_000);
  await world.skip(50 * HOUR);
  const [question] = await errand.questions();
  await errand.answer(question?.id ?? "", { allow: true });
  await world.advance(1_000);
  expect(await answer).toMatchObject({ text: "done" });
});

test("an awaited child ends with the turn; a background child continues and is announced", async () => {
  const world = createTestWorld();
  const { errand } = await openTestErrand(
    {
      parent: (_request, { replies, newest }) => {
        if (newest !== "go") return say("told");
        return replies === 0
          ? callTools([
              { name: "subagent", input: { task: "awaited" } },
              { name: "start_background_agent", input: { task: "background", timeout_seconds: 3_000 } },
              { name: "look", input: {} },
            ])
          : hang();
      },
      child: async (_request, { task, replies }) => {
        if (task === "awaited") return hang();
        await new Promise<void>((resolve) => void world.after(90_000, resolve));
        return replies === 0 ? report("found") : say("end");
      },
    },
    { world, tools: [hanging().tool], limits: { turnSeconds: 60 } },
  );
  const agent = await errand.openAgent();
  const ended = expect(agent.postAndAwait("go", patient)).rejects.toMatchObject(failed);
  await world.advance(MINUTE);
  await ended;
  await world.advance(200_000);
  const runs = await errand.listRuns();
  expect(runs.map(({ status, reason }) => [status, reason])).toEqual([
    ["cancelled", "parent-ended"],
    ["ok", null],
  ]);
});

test("a restart does not begin the hour again", async () => {
  const world = createTestWorld();
  const store = { ...createMemoryStore(), close: async () => undefined };
  const first = await openTestErrand({ parent: [hang()] }, { world, store });
  const agent = await first.errand.openAgent();
  await agent.post("go", { id: "first" });
  await world.rest();
  await world.skip(40 * MINUTE);
  const closed = first.errand.close({ withinMs: 0 });
  await world.advance(1);
  await closed;
  const second = await openTestErrand({ parent: [hang(), hang()] }, { world, store });
  let told: unknown;
  const again = await second.errand.agent(agent.id);
  void again.postAndAwait("go", { id: "first", ...patient }).catch((error: unknown) => (told = error));
  await world.advance(19 * MINUTE);
  expect(second.models.requests).toHaveLength(1);
  expect(told).toBeUndefined();
  await world.advance(2 * MINUTE);
  expect(told).toMatchObject(failed);
});

test("a fork has what its origin had left", async () => {
  const world = createTestWorld();
  const { errand } = await openTestErrand({ parent: () => hang() }, { world });
  const agent = await errand.openAgent();
  await agent.post("go");
  await world.rest();
  await world.skip(10 * HOUR);
  const seq = (await eventsNow(errand, agent.id)).find((event) =>
    event.facts.some((fact) => fact.type === "model-called"),
  )?.seq;
  const fork = await errand.fork(agent.id, { at: seq ?? 0 });
  await world.rest();
  await world.skip(HOUR - MINUTE);
  const ended = async () => factsOfType(allFacts(await eventsNow(errand, fork.id)), "turn-ended").length;
  expect(await ended()).toBe(0);
  await world.advance(MINUTE);
  expect(await ended()).toBe(1);
});

test("turnSeconds null means no deadline", async () => {
  const world = createTestWorld();
  const { errand } = await openTestErrand({ parent: [hang()] }, { world, limits: { turnSeconds: null } });
  const agent = await errand.openAgent();
  await agent.post("go");
  await world.rest();
  await world.skip(10 * HOUR);
  expect(factsOfType(allFacts(await eventsNow(errand, agent.id)), "turn-ended")).toEqual([]);
});
