import { expect, onTestFinished, test } from "vitest";
import { createErrand, type ModelFacts, replayVerdict, type Tool } from "../../src/index.ts";
import { callTool, createScriptedModels, fail, hang, say, type Script } from "../../src/testing/index.ts";
import { newestUserText, occurrences, requestJson, toolResults } from "../support/model-requests.ts";
import { report, startCall, startRuns } from "../support/scripted-replies.ts";
import { acceptedFacts, eventsNow } from "../support/tree-facts.ts";
import { lookTool } from "../support/test-errand.ts";
import { createTestWorld } from "../support/test-world.ts";

const ASKED = /^Summarise the conversation so far/m;
const SUMMARY = "SUMMARY OF ALL";

async function open(
  parent: Script,
  window: number | null,
  child: Script = () => hang(),
  tools: readonly Tool[] = [],
  maxIterations = 25,
) {
  const facts: Record<string, Partial<ModelFacts>> = { "scripted/parent": { window } };
  const models = createScriptedModels({ "scripted/parent": parent, "scripted/child": child }, facts);
  const world = createTestWorld();
  const errand = await createErrand({
    store: "memory",
    world,
    models: [models],
    tools,
    agents: {
      orchestrator: { prompt: "You are the parent.", model: "scripted/parent", maxIterations },
      worker: { prompt: "You are a child.", model: "scripted/child" },
      researcher: { prompt: "You are a child.", model: "scripted/child" },
    },
  });
  onTestFinished(async () => {
    const closed = errand.close({ withinMs: 0 });
    await world.advance(1);
    await closed;
  });
  const agent = await errand.openAgent();
  const ask = async (text: string): Promise<void> => {
    await agent.post(text);
    await world.advance(100);
  };
  return { errand, agent, models, ask, world, requests: models.model("scripted/parent").requests };
}

const long = (word: string): string => `${word} `.repeat(800);

test("compaction: near the known window the model summarises older turns, and the request stays", async () => {
  const { ask, requests, errand, agent } = await open(
    (_request, { newest: asked }) => (ASKED.test(asked) ? say(SUMMARY) : say(long("answer"))),
    4_000,
  );
  await ask("the first question");
  await ask("the second question");
  await ask("the third question");
  const asked = requests.filter((request) => ASKED.test(newestUserText(request)));
  expect(asked).toHaveLength(1);
  expect(requestJson(asked[0])).toContain("the first question");
  expect(requestJson(asked[0])).not.toContain("the third question");
  const last = requests.at(-1);
  expect(newestUserText(last)).toContain(SUMMARY);
  expect(newestUserText(last)).toContain("the third question");
  expect(requestJson(last)).not.toContain("the first question");
  expect(acceptedFacts(await eventsNow(errand, agent.id), "context-compacted")).toHaveLength(1);
});

test("compaction: after an overflow turns are summarised, the call repeats and the window is learnt", async () => {
  const { ask, requests, errand, agent } = await open((request, { newest: asked }) => {
    if (ASKED.test(asked)) return say(SUMMARY);
    const overflows = JSON.stringify(request.messages).length > 10_000;
    return overflows ? fail({ code: "context-overflow", message: "too long" }) : say(long("answer"));
  }, null);
  for (const number of [1, 2, 3]) await ask(`question ${number}`);
  expect(newestUserText(requests.at(-1))).toContain("question 3");
  expect(newestUserText(requests.at(-1))).toContain(SUMMARY);
  const events = await eventsNow(errand, agent.id);
  expect(acceptedFacts(events, "turn-ended").map((fact) => fact.outcome)).toEqual(["done", "done", "done"]);
  expect(acceptedFacts(events, "window-learnt")).toHaveLength(1);
  expect(acceptedFacts(events, "model-failed")).toHaveLength(1);
  for (const number of [4, 5, 6, 7]) await ask(`question ${number}`);
  const later = await eventsNow(errand, agent.id);
  expect(acceptedFacts(later, "model-failed")).toHaveLength(1);
  expect(acceptedFacts(later, "context-compacted").length).toBeGreaterThan(1);
});

test("compaction, scenario 20: open and undelivered children stay visible, so that none is started twice", async () => {
  const { ask, requests, errand } = await open(
    (_request, { newest: asked, number }) => {
      if (ASKED.test(asked)) return say(SUMMARY);
      return number === 1 ? startRuns(startCall("quick"), startCall("slow")) : say(long("answer"));
    },
    5_000,
    (_request, { task, replies }) => (task === "slow" ? hang() : replies === 0 ? report("RESULT") : say("done")),
  );
  for (const number of [1, 2, 3, 4]) await ask(`question ${number}`);
  const last = requests.at(-1);
  expect(requestJson(last)).toContain(SUMMARY);
  const runs = await errand.listRuns();
  expect(runs).toHaveLength(2);
  for (const run of runs) expect(newestUserText(last)).toContain(`[run ${run.id} "${run.name}"`);
  expect(runs.map((run) => run.delivery)).toEqual(["pending", "open"]);
});

test("compaction: the last user request survives when it was joined to an earlier one that had no answer", async () => {
  const { ask, requests } = await open((_request, { newest: asked }) => {
    if (ASKED.test(asked)) return say(SUMMARY);
    return asked === "unanswered" ? fail({ message: "no" }) : say(long("answer"));
  }, 4_000);
  await ask("question 1");
  await ask("unanswered");
  await ask(`LAST request ${long("please")}`);
  const asked = requests.filter((request) => ASKED.test(newestUserText(request)));
  expect(asked).toHaveLength(1);
  expect(requestJson(asked[0])).toContain("unanswered");
  expect(requestJson(asked[0])).not.toContain("LAST request");
  expect(newestUserText(requests.at(-1))).toContain(SUMMARY);
  expect(occurrences(requestJson(requests.at(-1)), "LAST request")).toBe(1);
});

test("compaction: an announcement that is blocked stays whole", async () => {
  let failing = false;
  const { ask, requests, world } = await open(
    (_request, { newest: asked, number }) => {
      if (ASKED.test(asked)) return say(SUMMARY);
      if (number === 1) return startRuns(startCall("quick"));
      return failing ? fail() : say(long("answer"));
    },
    4_500,
    async (_request, { replies }) => {
      if (replies > 0) return say("done");
      await new Promise<void>((resolve) => void world.after(20_000, resolve));
      return report("THE RESULT");
    },
  );
  await ask("question 1");
  failing = true;
  await world.advance(60_000);
  expect(requests.filter((request) => ASKED.test(newestUserText(request)))).toHaveLength(0);
  failing = false;
  await ask(`question 2 ${long("please")}`);
  const last = requests.at(-1);
  expect(newestUserText(last)).toContain(SUMMARY);
  expect(occurrences(requestJson(last), "THE RESULT")).toBe(1);
  expect(newestUserText(last)).toContain("question 2");
  await ask("question 3");
  expect(requestJson(requests.at(-1))).not.toContain("THE RESULT");
});

test("overflow in a first turn: long tool results are cut step by step, and the call is repeated", async () => {
  let asked = 0;
  const look = lookTool(async () => ({ text: `begin ${"x".repeat(30_000)}`, failed: false }));
  const { errand, agent, ask, requests } = await open(
    (request, { replies }) => {
      asked += 1;
      if (replies === 0) return callTool("look", {});
      const long = JSON.stringify(request.messages).length > 10_000;
      return long ? fail({ code: "context-overflow", message: "too long" }) : say("it begins");
    },
    null,
    undefined,
    [look],
  );
  await ask("what does it say?");
  const events = await eventsNow(errand, agent.id);
  expect(acceptedFacts(events, "results-shortened").map(({ keep }) => keep)).toEqual([16_384, 4_096]);
  expect(acceptedFacts(events, "turn-ended")).toMatchObject([{ outcome: "done" }]);
  expect(acceptedFacts(events, "model-called")).toHaveLength(4);
  expect(asked).toBe(4);
  const [result] = toolResults(requests.at(-1));
  expect(result?.text).toMatch(/^begin x{4090}\n\[The rest of this result was left out, .+\]$/);
  expect(replayVerdict(await errand.replay(agent.id))).toBe("proven");
  await ask("and now?");
  expect(requestJson(requests.at(-1))).toContain("was left out");
});

test("overflow that nothing mends ends the turn with its reason, after a bounded number of tries", async () => {
  const look = lookTool(async () => ({ text: "x".repeat(30_000), failed: false }));
  const { errand, agent, ask } = await open(
    (_request, { replies }) =>
      replies === 0 ? callTool("look", {}) : fail({ code: "context-overflow", message: "too long" }),
    null,
    undefined,
    [look],
  );
  await ask("what does it say?");
  const events = await eventsNow(errand, agent.id);
  expect(acceptedFacts(events, "results-shortened").map(({ keep }) => keep)).toEqual([16_384, 4_096, 1_024]);
  expect(acceptedFacts(events, "turn-ended")).toMatchObject([{ outcome: "failed", reason: "context-overflow" }]);
});

test("overflow in a later turn: earlier turns are summarised first, then results are cut", async () => {
  const look = lookTool(async () => ({ text: "x".repeat(30_000), failed: false }));
  let summaries = 0;
  const { errand, agent, ask } = await open(
    (request, { newest: text, number }) => {
      if (number === 1) return callTool("look", {});
      const long = JSON.stringify(request.messages).length > 20_000;
      if (ASKED.test(text)) summaries += 1;
      if (ASKED.test(text)) return long ? fail({ code: "context-overflow", message: "too long" }) : say(SUMMARY);
      return text.startsWith("second") && long ? fail({ code: "context-overflow", message: "too long" }) : say("fine");
    },
    null,
    undefined,
    [look],
  );
  await ask("first");
  await ask("second");
  const events = await eventsNow(errand, agent.id);
  expect(summaries).toBe(2);
  expect(acceptedFacts(events, "results-shortened").map(({ keep }) => keep)).toEqual([16_384]);
  expect(acceptedFacts(events, "context-compacted")).toHaveLength(1);
  expect(acceptedFacts(events, "turn-ended").map(({ outcome }) => outcome)).toEqual(["done", "done"]);
});

test("overflow: calls for a summary count for no iteration, however often they are made again", async () => {
  const look = lookTool(async () => ({ text: "x".repeat(30_000), failed: false }));
  const { errand, agent, ask } = await open(
    (request, { newest: text, number }) => {
      const long = JSON.stringify(request.messages).length > 20_000;
      if (ASKED.test(text)) return long ? fail({ code: "context-overflow", message: "too long" }) : say(SUMMARY);
      if (number === 2) return say("fine");
      return number > 1 && long ? fail({ code: "context-overflow", message: "too long" }) : callTool("look", {});
    },
    null,
    undefined,
    [look],
    2,
  );
  await ask("first");
  await ask("second");
  const events = await eventsNow(errand, agent.id);
  expect(acceptedFacts(events, "turn-ended")).toMatchObject([
    { outcome: "done" },
    { outcome: "failed", reason: "iteration-limit" },
  ]);
  const again = events.slice(events.findIndex(({ facts }) => facts[0]?.type === "message-posted") + 1);
  expect(acceptedFacts(again, "tool-called")).toHaveLength(3);
});
