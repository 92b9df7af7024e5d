/**
 * A reply of which its provider counts far more tokens than `replyTokens`, reasoning included: the provider has ignored
 * the number that it was sent, so the turn ends with the reason, and what was used is booked.
 */

import { describe, expect, test } from "vitest";
import type { Model } from "../../src/index.ts";
import { WIRES } from "../models/wires/index.ts";
import { openWireErrand } from "../models/wires/wire-errand.ts";
import { openWireServer, stream } from "../models/wires/wire-server.ts";
import { eventsUntil, openTestErrand, turnsEnded } from "../support/test-errand.ts";

const LIMITS = { replyTokens: 1_000 };

function refused(counted: number) {
  const message = expect.stringContaining(
    `has ${counted} tokens by its provider's count, where 1000 are allowed, and was not used; limits.replyTokens allows more`,
  );
  return { code: "turn-failed", message, details: expect.objectContaining({ reason: "reply-limit" }) };
}

describe.each(WIRES)("$title", (wire) => {
  const talk = async (output: number, text = "short") => {
    const server = await openWireServer((exchange) =>
      stream(exchange, wire.frames({ text, usage: { input: 10, cached: 0, output } })),
    );
    const errand = await openWireErrand(wire, server, { limits: LIMITS });
    return { server, errand, agent: await errand.openAgent() };
  };

  test("a short reply after too much hidden reasoning is refused once, and booked as counted", async () => {
    const { server, errand, agent } = await talk(5_000);
    await expect(agent.postAndAwait("go")).rejects.toMatchObject(refused(5_000));
    expect(server.exchanges).toHaveLength(1);
    const facts = (await eventsUntil(errand, agent.id, turnsEnded(1))).flatMap((event) => event.facts);
    expect(facts).toContainEqual(
      expect.objectContaining({ type: "model-failed", usage: { input: 10, output: 5_000 } }),
    );
    expect(await errand.replay(agent.id)).toMatchObject({ difference: null });
  });

  test("a reply with reasoning that is counted apart is kept, and booked as counted", async () => {
    const { errand, agent } = await talk(4_000);
    expect(await agent.postAndAwait("go")).toMatchObject({ text: "short" });
    const facts = (await eventsUntil(errand, agent.id, turnsEnded(1))).flatMap((event) => event.facts);
    expect(facts).toContainEqual(
      expect.objectContaining({ type: "model-replied", usage: { input: 10, output: 4_000 } }),
    );
  });
});

const answers = async (usage: unknown): Promise<string> => {
  const model: Model = {
    call: async () => ({ parts: [{ type: "text", text: "short" }], usage: usage as never, stop: "end" }),
  };
  const { errand } = await openTestErrand(
    { parent: [] },
    {
      models: [{ resolve: () => ({ model, facts: { window: null, price: null } }) }],
      model: "own/model",
      agents: { orchestrator: { prompt: "You are a test.", model: "own/model" } },
      limits: LIMITS,
    },
  );
  return (await (await errand.openAgent()).postAndAwait("go")).text;
};

test.each([
  ["an estimate", { input: 1, output: 5_000, estimated: true }],
  ["a number that no call can use", { input: 1, output: 1e19 }],
  ["no number", { input: 1, output: "many" }],
])("%s is no reason to refuse a reply", async (_what, usage) => {
  expect(await answers(usage)).toBe("short");
});

test("a model of the user's own is counted too", async () => {
  await expect(answers({ input: 1, output: 4_001 })).rejects.toMatchObject(refused(4_001));
});
