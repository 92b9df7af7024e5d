/** Agents that a program defines: inline tools, delegates, and models of the AI SDK. */

import { MockLanguageModelV4, simulateReadableStream } from "ai/test";
import { expect, onTestFinished, test } from "vitest";
import { createErrand, type Errand, type ErrandError, type ErrandOptions, tool } from "../../src/index.ts";
import { byContext, callTool, createScriptedModels, say } from "../../src/testing/index.ts";
import { report } from "../support/scripted-replies.ts";

const search = tool({ name: "search", description: "Searches.", safe: true, run: () => "found" });

const scripts = {
  "scripted/planner": byContext([callTool("subagent", { task: "look", agent: "researcher" }), say("done")]),
  "scripted/researcher": byContext([callTool("search", {}), report("I searched."), say("end")]),
};

async function open(
  agents: NonNullable<ErrandOptions["agents"]>,
): Promise<{ errand: Errand; notices: ErrandError[]; seen: (name: string) => readonly string[] }> {
  const models = createScriptedModels(scripts);
  const notices: ErrandError[] = [];
  const errand = await createErrand({
    store: "memory",
    models: [models],
    tools: [],
    agents,
    onNotice: (notice) => notices.push(notice),
  });
  onTestFinished(() => errand.close());
  const seen = (name: string): readonly string[] =>
    models
      .model(`scripted/${name}`)
      .requests.at(0)
      ?.tools.map((spec) => spec.name) ?? [];
  return { errand, notices, seen };
}

const researcher = {
  description: "Finds things.",
  prompt: "You search.",
  model: "scripted/researcher",
  tools: [search],
};

test("a parent holds a tool for its children without seeing it", async () => {
  const { errand, notices, seen } = await open({
    planner: { prompt: "You plan.", model: "scripted/planner", tools: [], delegates: [search] },
    researcher,
  });
  const { text, runs } = await errand.run("go", { agent: "planner" });
  expect(text).toBe("done");
  expect(runs[0]).toMatchObject({ status: "ok" });
  expect(seen("planner")).not.toContain("search");
  expect(seen("researcher")).toContain("search");
  expect(notices).toEqual([]);
});

test("A9: without delegates the child has no more than its parent, and the program is told so once", async () => {
  const { errand, notices, seen } = await open({
    planner: { prompt: "You plan.", model: "scripted/planner", tools: [] },
    researcher,
  });
  await errand.run("go", { agent: "planner" });
  await errand.run("go again", { agent: "planner" });
  expect(seen("researcher")).not.toContain("search");
  expect(notices).toMatchObject([
    {
      code: "tools-narrowed",
      message: 'Below "planner" agents have fewer tools than they define: researcher without search.',
      remedy: expect.stringContaining('delegates: ["search"]'),
    },
  ]);
});

test("delegates are held by name too, and pass through a child that delegates on", async () => {
  const models = createScriptedModels({
    "scripted/top": byContext([callTool("subagent", { task: "plan", agent: "planner" }), say("all done")]),
    "scripted/planner": byContext([
      callTool("subagent", { task: "look", agent: "researcher" }),
      report("planned"),
      say("end"),
    ]),
    "scripted/researcher": scripts["scripted/researcher"],
  });
  const errand = await createErrand({
    store: "memory",
    models: [models],
    tools: [search],
    limits: { maxDepth: 2 },
    agents: {
      top: { prompt: "Top.", model: "scripted/top", tools: [], delegates: ["search"] },
      planner: { prompt: "Plan.", model: "scripted/planner", tools: [], delegates: ["search"] },
      researcher,
    },
  });
  onTestFinished(() => errand.close());
  const { runs, tree } = await errand.run("go", { agent: "top" });
  expect(runs.map(({ status }) => status)).toEqual(["ok", "ok"]);
  expect(models.model("scripted/researcher").requests[0]?.tools.map(({ name }) => name)).toContain("search");
  expect((await errand.replay(tree)).difference).toBeNull();
});

test("two tools of one name are refused", async () => {
  const other = tool({ name: "search", description: "Another.", run: () => "" });
  await expect(
    open({
      one: { prompt: "x", model: "scripted/planner", tools: [search] },
      two: { prompt: "x", model: "scripted/planner", tools: [other] },
    }),
  ).rejects.toMatchObject({ code: "usage", message: expect.stringContaining('a second tool with the name "search"') });
});

test("a language model of the AI SDK is a model as it is", async () => {
  const model = new MockLanguageModelV4({
    provider: "mock",
    modelId: "m1",
    doStream: async () => ({
      stream: simulateReadableStream({
        chunks: [
          { type: "stream-start", warnings: [] },
          { type: "text-start", id: "1" },
          { type: "text-delta", id: "1", delta: "Hello from the SDK." },
          { type: "text-end", id: "1" },
          {
            type: "finish",
            finishReason: { unified: "stop", raw: "stop" },
            usage: {
              inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
              outputTokens: { total: 4, text: 4, reasoning: 0 },
            },
          },
        ],
      }),
    }),
  });
  const errand = await createErrand({ store: "memory", model });
  onTestFinished(() => errand.close());
  const { text, usage, tree } = await errand.run("hi");
  expect(text).toBe("Hello from the SDK.");
  expect(usage).toEqual({ input: 10, output: 4, estimated: 0 });
  expect((await errand.replay(tree)).difference).toBeNull();
});
