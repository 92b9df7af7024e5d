/** Retries of model calls: which, how often, after how long; all of it recorded and replayed. */

import { expect, onTestFinished, test } from "vitest";
import { createErrand, replayVerdict } from "../../src/index.ts";
import { createScriptedModels, fail, say, type Script } from "../../src/testing/index.ts";
import { acceptedFacts, eventsNow } from "../support/tree-facts.ts";
import { createTestWorld } from "../support/test-world.ts";

async function open(script: Script) {
  const world = createTestWorld();
  const models = createScriptedModels({ "scripted/parent": script });
  const errand = await createErrand({ store: "memory", world, models: [models], tools: [], model: "scripted/parent" });
  onTestFinished(async () => {
    const closed = errand.close({ withinMs: 0 });
    await world.advance(1);
    await closed;
  });
  const retries = async (tree: string) => {
    const rows = (await eventsNow(errand, tree)).filter(({ facts }) =>
      facts.some((fact) => fact.type === "model-retry-set"),
    );
    return rows.flatMap(({ at, facts }) =>
      facts.flatMap((fact) => (fact.type === "model-retry-set" ? [fact.at - at] : [])),
    );
  };
  return { world, errand, requests: models.model("scripted/parent").requests, retries };
}

const failing = { retryable: true } as const;

test("a failed call is retried after 1, 4 and 16 seconds plus a random part, and replay proves the times", async () => {
  const { world, errand, retries } = await open(() => fail(failing));
  const waits: number[][] = [];
  for (let conversation = 0; conversation < 5; conversation += 1) {
    const agent = await errand.openAgent();
    await agent.post("go");
    await world.advance(60_000);
    waits.push(await retries(agent.id));
    expect(replayVerdict(await errand.replay(agent.id))).toBe("proven");
    const ended = acceptedFacts(await eventsNow(errand, agent.id), "turn-ended");
    expect(ended).toMatchObject([{ outcome: "failed", reason: "provider-error" }]);
  }
  for (const [index, base] of [1_000, 4_000, 16_000].entries()) {
    const drawn = waits.map((list) => list[index] ?? 0);
    for (const wait of drawn) {
      expect(wait).toBeGreaterThanOrEqual(base);
      expect(wait).toBeLessThan(base * 1.25);
    }
    expect(new Set(drawn).size).toBeGreaterThan(1);
  }
  expect(waits.map((list) => list.length)).toEqual([3, 3, 3, 3, 3]);
});

test("a provider that asks for a longer wait gets it, and never a shorter one", async () => {
  const { world, errand, retries, requests } = await open((_request, { number }) =>
    number === 1 ? fail({ ...failing, retryAfterMs: 90_000 }) : say("here"),
  );
  const agent = await errand.openAgent();
  await agent.post("go");
  await world.advance(89_999);
  expect(requests).toHaveLength(1);
  await world.advance(90_000 * 0.25 + 1);
  expect(requests).toHaveLength(2);
  const [wait] = await retries(agent.id);
  expect(wait).toBeGreaterThanOrEqual(90_000);
});

test("a retry-after of more than ten minutes fails the turn at once, with the provider's message", async () => {
  const { world, errand, retries } = await open(() => fail({ ...failing, message: "quota", retryAfterMs: 600_001 }));
  const agent = await errand.openAgent();
  const reply = expect(agent.postAndAwait("go")).rejects.toMatchObject({ code: "turn-failed" });
  await world.advance(1);
  await reply;
  expect(await retries(agent.id)).toEqual([]);
});

test("an error that no waiting mends is not tried again", async () => {
  const { world, errand, requests } = await open(() => fail({ retryable: false }));
  const agent = await errand.openAgent();
  await agent.post("go");
  await world.advance(60_000);
  expect(requests).toHaveLength(1);
});
