/**
 * The user's money: model calls of a request are limited, a limit of money needs known prices, and all usage counts.
 */

import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { LIMITS } from "../../src/core/values/limits.ts";
import type { Errand, ErrandOptions, Usage } from "../../src/index.ts";
import { parseUsage } from "../../src/runtime/effects/parse-reply.ts";
import { byContext, callTool, callTools, type Script, say } from "../../src/testing/index.ts";
import { eventsUntil, openTestErrand, temporaryFolder, turnsEnded } from "../support/test-errand.ts";

const PRICE = { input: 1_000_000, output: 1_000_000, cachedInput: 1_000_000 };
const looking: Script = () => callTool("look", {});

async function calls(errand: Errand, tree: string, turns: number): Promise<number> {
  const facts = (await eventsUntil(errand, tree, turnsEnded(turns))).flatMap((event) => event.facts);
  return facts.filter((fact) => fact.type === "model-called").length;
}

async function questioned(errand: Errand, tree: string, count = 1): Promise<string> {
  let seen = 0;
  await eventsUntil(errand, tree, ({ facts }) => {
    seen += facts.filter((fact) => fact.type === "question-asked").length;
    return seen >= count;
  });
  return (await errand.questions({ tree })).at(-1)?.id ?? "";
}

describe("model calls of a request", () => {
  test("1,000 are the default", () => {
    expect(LIMITS.modelCallsPerRequest.default).toBe(1_000);
  });

  test("an endless turn ends with `model-call-limit`, and the next message is a new request", async () => {
    const { errand, models } = await openTestErrand({ parent: looking }, { limits: { modelCallsPerRequest: 5 } });
    const agent = await errand.openAgent();
    const failed = { code: "turn-failed", details: { reason: "model-call-limit" } };
    await expect(agent.postAndAwait("go")).rejects.toMatchObject(failed);
    expect(models.requests).toHaveLength(5);
    await expect(agent.postAndAwait("again")).rejects.toMatchObject(failed);
    expect(models.requests).toHaveLength(10);
    expect(await errand.replay(agent.id)).toMatchObject({ difference: null, foreign: [] });
  });

  test("calls of children and repeated calls count, and those of ended runs stay counted", async () => {
    const child = { name: "subagent", input: { task: "look", agent: "worker" } };
    const { errand, models } = await openTestErrand(
      { parent: byContext([callTools([child, child]), callTools([child]), say("Done.")]), child: looking },
      { limits: { modelCallsPerRequest: 9, delegatedIterations: 50 } },
    );
    const agent = await errand.openAgent();
    await expect(agent.postAndAwait("go")).rejects.toMatchObject({ details: { reason: "model-call-limit" } });
    expect(models.requests).toHaveLength(9);
    expect((await errand.listRuns()).map(({ status, reason }) => [status, reason])).toEqual([
      ["error", "model-call-limit"],
      ["error", "model-call-limit"],
    ]);
  });

  test("a report whose closing call is beyond the limit is kept", async () => {
    const report = callTool("send_agent_message", { text: "found it" });
    const { errand } = await openTestErrand(
      { parent: byContext([callTool("subagent", { task: "look", agent: "worker" }), say("Done.")]), child: [report] },
      { limits: { modelCallsPerRequest: 2 } },
    );
    const agent = await errand.openAgent();
    await expect(agent.postAndAwait("go")).rejects.toMatchObject({ details: { reason: "model-call-limit" } });
    expect(await errand.listRuns()).toMatchObject([{ status: "ok", report: "tool" }]);
  });
});

describe("with a user to ask", () => {
  const asking: Partial<ErrandOptions> = { limits: { modelCallsPerRequest: 3 }, onModelCallLimit: "ask" };

  test("yes allows the same number again, no ends the turn", async () => {
    const { errand, models } = await openTestErrand({ parent: looking }, asking);
    const agent = await errand.openAgent();
    const ended = expect(agent.postAndAwait("go")).rejects.toMatchObject({ details: { reason: "model-call-limit" } });
    const first = await questioned(errand, agent.id);
    expect(await errand.questions()).toMatchObject([
      { tool: "model_calls", input: { calls: 3 }, text: expect.stringContaining("3 model calls") },
    ]);
    expect(models.requests).toHaveLength(3);
    await errand.answer(first, { allow: true });
    const second = await questioned(errand, agent.id, 2);
    expect(models.requests).toHaveLength(6);
    await errand.answer(second, { allow: false });
    await ended;
    expect(models.requests).toHaveLength(6);
    expect(await errand.questions()).toEqual([]);
    expect(await errand.replay(agent.id)).toMatchObject({ difference: null, foreign: [] });
  });

  test("one question is for all waiting agents; their time limits pause, and all continue", async () => {
    const child = { name: "start_background_agent", input: { task: "look", agent: "worker", timeout_seconds: 60 } };
    const { errand } = await openTestErrand(
      {
        parent: byContext([callTools([child, child]), say("Started."), say("Heard.")]),
        child: byContext([callTool("look", {}), callTool("send_agent_message", { text: "saw", final: true })]),
      },
      { ...asking, limits: { modelCallsPerRequest: 4 } },
    );
    const agent = await errand.openAgent();
    await agent.post("go");
    const question = await questioned(errand, agent.id);
    expect(await errand.questions()).toHaveLength(1);
    expect((await errand.listRuns()).map(({ state, deadline }) => [state, deadline])).toEqual([
      ["needs_input", null],
      ["needs_input", null],
    ]);
    await errand.answer(question, { allow: true });
    await eventsUntil(errand, agent.id, turnsEnded(2));
    expect((await errand.listRuns()).map(({ status }) => status)).toEqual(["ok", "ok"]);
    expect(await errand.replay(agent.id)).toMatchObject({ difference: null, foreign: [] });
  });

  test("if the run that asked is cancelled, the others ask again", async () => {
    const child = { name: "start_background_agent", input: { task: "look", agent: "worker" } };
    const { errand } = await openTestErrand(
      { parent: byContext([callTools([child, child]), say("Started."), say("Heard.")]), child: looking },
      { ...asking, limits: { modelCallsPerRequest: 4 } },
    );
    const agent = await errand.openAgent();
    await agent.post("go");
    await questioned(errand, agent.id);
    const [first] = await errand.questions();
    await errand.cancel(first?.run ?? "");
    const [second] = await errand.questions();
    expect(second?.run).not.toBe(first?.run);
    await errand.answer(second?.id ?? "", { allow: false });
    await eventsUntil(errand, agent.id, ({ facts }) => facts.some((fact) => fact.type === "announcement-blocked"));
    expect(await errand.questions()).toEqual([]);
  });

  test("the question survives a restart, also into a process that does not ask, and a new message continues without it", async () => {
    const store = join(temporaryFolder(), "errand.db");
    const first = (await openTestErrand({ parent: looking }, { ...asking, store })).errand;
    const agent = await first.openAgent();
    await agent.post("go");
    const question = await questioned(first, agent.id);
    await first.close({ withinMs: 0 });
    const { errand: second, models } = await openTestErrand(
      { parent: looking },
      { ...asking, store, onModelCallLimit: "end" },
    );
    expect((await second.questions()).map(({ id }) => id)).toEqual([question]);
    const again = (await second.agent(agent.id)).postAndAwait("go on");
    await expect(again).rejects.toMatchObject({ details: { reason: "model-call-limit" } });
    expect(models.requests).toHaveLength(3);
    expect(await second.questions()).toEqual([]);
    await expect(second.answer(question, { allow: true })).rejects.toMatchObject({ code: "question-closed" });
    expect(await second.replay(agent.id)).toMatchObject({ difference: null, foreign: [] });
  });
});

describe("a limit of money with a model of unknown price", () => {
  const limited = { limits: { costPerTree: 1_000_000 } };

  test("a conversation is refused with the remedy, and nothing is created", async () => {
    const { errand, models } = await openTestErrand({ parent: [say("free?")] }, limited);
    const refused = {
      code: "price-unknown",
      message: expect.stringContaining("scripted/parent"),
      remedy: expect.stringContaining("tokensPerTree"),
    };
    await expect(errand.openAgent()).rejects.toMatchObject(refused);
    await expect(errand.start("go")).rejects.toMatchObject(refused);
    expect(await errand.listTrees()).toEqual([]);
    expect(models.requests).toEqual([]);
  });

  test.each([
    ["a definition", { task: "look", agent: "worker" }],
    ["a call", { task: "look", agent: "worker", model: "scripted/child" }],
  ])("a child is refused where %s names it", async (_who, input) => {
    const { errand, models } = await openTestErrand(
      { parent: byContext([callTool("start_background_agent", input), say("Done.")]), child: [say("free?")] },
      { ...limited, facts: { "scripted/parent": { window: null, price: PRICE } } },
    );
    const agent = await errand.openAgent();
    await agent.postAndAwait("go");
    const [result] =
      models.requests.at(-1)?.messages.flatMap((message) => (message.role === "tool" ? message.results : [])) ?? [];
    expect(JSON.parse(result?.text ?? "")).toMatchObject({ status: "refused", reason: "price-unknown" });
    expect(await errand.listRuns()).toEqual([]);
  });

  test("a continued conversation with such a model ends its turn before the call", async () => {
    const store = join(temporaryFolder(), "errand.db");
    const known = { "scripted/parent": { window: null, price: PRICE } };
    const first = (await openTestErrand({ parent: [say("paid")] }, { ...limited, store, facts: known })).errand;
    const agent = await first.openAgent();
    await agent.postAndAwait("go");
    await first.close();
    const { errand: second, models } = await openTestErrand({ parent: [say("free?")] }, { ...limited, store });
    const answer = (await second.agent(agent.id)).postAndAwait("again");
    await expect(answer).rejects.toMatchObject({ details: { reason: "price-unknown" } });
    expect(models.requests).toEqual([]);
  });
});

describe("usage that providers report", () => {
  test.each([
    [
      { input: 10, output: 3 },
      { input: 10, output: 3 },
    ],
    [
      { input: 10.2, output: 3.5, cachedInput: 1.5 },
      { input: 11, output: 4, cachedInput: 2 },
    ],
    [
      { input: 10, output: 3, cachedInput: 99 },
      { input: 10, output: 3, cachedInput: 10 },
    ],
    [
      { input: 10, output: 3, cachedInput: -99 },
      { input: 10, output: 3 },
    ],
    [
      { input: 1e300, output: Number.POSITIVE_INFINITY },
      { input: 1e9, output: 1e9 },
    ],
    [{ input: -5, output: 3 }, null],
    [{ input: 10, output: -3 }, null],
    [{ input: Number.NaN, output: 3 }, null],
    [{ input: "10", output: 3 }, null],
    [{ input: 10 }, null],
    [null, null],
    ["all", null],
  ])("%j is booked as %j", (told, booked) => {
    expect(parseUsage(told)).toEqual(booked);
  });

  test.each<[string, Usage | null]>([
    ["negative", { input: -1_000_000, output: -1_000_000 }],
    ["missing", null],
    ["nothing", { input: 0, output: 0 }],
    ["not a number", { input: Number.NaN, output: Number.NaN }],
  ])("%s usage evades no limit: the call is booked at an estimate", async (_what, usage) => {
    const { errand } = await openTestErrand(
      { parent: () => callTools([{ name: "look", input: {} }], { usage }) },
      { limits: { tokensPerTree: 8_000 } },
    );
    const agent = await errand.openAgent();
    await expect(agent.postAndAwait("go")).rejects.toMatchObject({ details: { reason: "token-limit" } });
    expect(await calls(errand, agent.id, 1)).toBeLessThan(8);
  });
});
