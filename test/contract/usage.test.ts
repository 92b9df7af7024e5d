/**
 * What calls used, where nobody tells it in time: an estimate that is marked as one, and makes way for what is told.
 */

import { join } from "node:path";
import { expect, test } from "vitest";
import { createErrand, replayVerdict } from "../../src/index.ts";
import { byContext, createScriptedModels, fail, hang, say } from "../../src/testing/index.ts";
import { callSubagent, startCall, startRuns } from "../support/scripted-replies.ts";
import { acceptedFacts, eventsNow } from "../support/tree-facts.ts";
import { eventsUntil, openTestErrand, temporaryFolder } from "../support/test-errand.ts";
import { createTestWorld } from "../support/test-world.ts";

const price = { input: 1_000_000, output: 2_000_000, cachedInput: 100_000 };

test("an aborted call is booked at an estimate and again with the provider's usage; replay proves both", async () => {
  const world = createTestWorld();
  const { errand } = await openTestErrand(
    {
      parent: byContext([startRuns(startCall("wait")), say("started"), say("cancelled")]),
      child: () => hang("so far", { input: 70, output: 3 }),
    },
    { world, facts: { "scripted/child": { price } } },
  );
  const agent = await errand.openAgent();
  await agent.post("go");
  await world.rest();
  const [run] = await errand.listRuns();
  await errand.cancel(run?.id ?? "");
  await world.rest();
  const events = await eventsNow(errand, agent.id);
  const [estimate] = acceptedFacts(events, "usage-estimated");
  expect(estimate).toMatchObject({ agent: 1, aborted: true, usage: { output: 1_024, estimated: true } });
  expect(estimate?.usage.input).toBeGreaterThan(0);
  expect(acceptedFacts(events, "usage-learnt")).toMatchObject([{ usage: { input: 70, output: 3 } }]);
  expect((await errand.listRuns())[0]).toMatchObject({ status: "cancelled", tokens: 73, cost: 76 });
  expect(replayVerdict(await errand.replay(agent.id))).toBe("proven");
});

test("the usage of a call that was aborted by closing the agent is booked too", async () => {
  const world = createTestWorld();
  const { errand } = await openTestErrand({ parent: () => hang("", { input: 9, output: 1 }) }, { world });
  const agent = await errand.openAgent();
  await agent.post("go");
  await world.rest();
  await agent.close();
  await world.rest();
  expect(acceptedFacts(await eventsNow(errand, agent.id), "usage-learnt")).toMatchObject([
    { usage: { input: 9, output: 1 } },
  ]);
});

test("only replies and failures of unknown usage are booked at an estimate, within the budget", async () => {
  const world = createTestWorld();
  const { errand } = await openTestErrand(
    {
      parent: [
        say("nobody counted", { usage: null }),
        fail({ retryable: true, usage: null }),
        fail({ retryable: true }),
        say("counted", { usage: { input: 10, output: 5 } }),
        say("too much"),
      ],
    },
    { world, limits: { tokensPerTree: 3_200 } },
  );
  const agent = await errand.openAgent();
  await agent.post("one");
  await world.rest();
  await agent.post("two");
  await world.advance(60_000);
  const events = await eventsNow(errand, agent.id);
  expect(acceptedFacts(events, "usage-estimated").map(({ usage, aborted }) => [usage.output, aborted])).toEqual([
    [1_024, undefined],
    [1_024, undefined],
  ]);
  await expect(agent.postAndAwait("three")).rejects.toMatchObject({ details: { reason: "token-limit" } });
});

test("a call that a process took with it is booked at an estimate when it is made again", async () => {
  const store = join(temporaryFolder(), "errand.db");
  const open = (reply: Parameters<typeof byContext>[0][number]) =>
    createErrand({
      store,
      models: [createScriptedModels({ "scripted/parent": () => reply })],
      model: "scripted/parent",
      tools: [],
    });
  const first = await open(hang());
  const { id } = await first.openAgent();
  await (await first.agent(id)).post("go");
  await first.close({ withinMs: 0 });
  const second = await open(say("here"));
  const events = await eventsUntil(second, id, ({ facts }) => facts.some((fact) => fact.type === "turn-ended"));
  await second.close();
  const lost = events.find(({ facts }) => facts[0]?.type === "effects-lost");
  expect(lost?.facts.slice(1).map((fact) => fact.type)).toEqual(["usage-estimated", "effect-repeated"]);
});

test("what was under way where a tree is forked is not booked in the fork", async () => {
  const world = createTestWorld();
  const { errand } = await openTestErrand(
    { parent: byContext([callSubagent("wait"), say("without it")]), child: () => hang() },
    { world },
  );
  const agent = await errand.openAgent();
  await agent.post("go");
  await world.rest();
  const calls = (await eventsNow(errand, agent.id)).filter(({ facts }) =>
    facts.some((fact) => fact.type === "model-called"),
  );
  const seq = calls[1]?.seq ?? 0;
  for (const [at, goesOn] of [
    [2, "effect-repeated"],
    [seq, "run-ended"],
  ] as const) {
    const fork = await errand.fork(agent.id, { at });
    await world.rest();
    const facts = (await eventsNow(errand, fork.id)).slice(at).flatMap((event) => event.facts);
    expect(facts.map((fact) => fact.type)).toContain(goesOn);
    expect(facts.filter((fact) => fact.type === "usage-estimated")).toEqual([]);
    expect(facts.filter((fact) => fact.type === "effects-lost")).toEqual([]);
  }
});
