/** The host tools inside the loop of the AI SDK. The host's model is the SDK's mock; the children are scripted. */

import { generateText, isStepCount, streamText } from "ai";
import { MockLanguageModelV4, simulateReadableStream } from "ai/test";
import { expect, test } from "vitest";
import { callTool, fail, hang, type Script } from "../../src/testing/index.ts";
import { report } from "../support/scripted-replies.ts";
import { openTestErrand } from "../support/test-errand.ts";

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

type Generated = Awaited<ReturnType<MockLanguageModelV4["doGenerate"]>>;

function calls(toolName: string, input: unknown): Generated {
  return {
    content: [{ type: "tool-call", toolCallId: "call-1", toolName, input: JSON.stringify(input) }],
    finishReason: { unified: "tool-calls", raw: undefined },
    usage,
    warnings: [],
  };
}

function says(text: string): Generated {
  return { content: [{ type: "text", text }], finishReason: { unified: "stop", raw: undefined }, usage, warnings: [] };
}

async function open(child: Script) {
  return (await openTestErrand({ parent: () => fail(), child })).errand;
}

test("generateText delegates, and its model reads the result", async () => {
  const errand = await open(() => report("Three files.", { final: true }));
  const model = new MockLanguageModelV4({
    doGenerate: [calls("subagent", { task: "Count." }), says("There are three.")],
  });
  const tools = errand.tools({ agents: ["worker"] });
  const { text, steps } = await generateText({ model, tools, stopWhen: isStepCount(3), prompt: "How many?" });
  expect(text).toBe("There are three.");
  expect(steps[0]?.toolResults).toMatchObject([{ output: { status: "completed", summary: "Three files." } }]);
  const [first, second] = model.doGenerateCalls;
  expect(first?.tools).toMatchObject([
    {
      type: "function",
      name: "subagent",
      inputSchema: { type: "object", required: ["task"], additionalProperties: false },
    },
  ]);
  expect(JSON.stringify(second?.prompt)).toContain("Three files.");
});

test("wrong arguments and failed runs are results that the host's model reads", async () => {
  const errand = await open(() => fail({ message: "no credit" }));
  const model = new MockLanguageModelV4({
    doGenerate: [calls("subagent", { job: 1 }), calls("subagent", { task: "x" }), says("It failed.")],
  });
  const { steps } = await generateText({ model, tools: errand.tools(), stopWhen: isStepCount(3), prompt: "Go." });
  const outputs = steps.flatMap(({ toolResults }) => toolResults.map(({ output }) => output));
  expect(outputs).toMatchObject([{ status: "refused", reason: "invalid-arguments" }, { status: "failed" }]);
});

test("streamText shows progress as preliminary results", async () => {
  const errand = await open((_request, { replies }) =>
    replies === 0 ? callTool("look", { path: "a.ts" }) : report("Three files.", { final: true }),
  );
  let asked = 0;
  const model = new MockLanguageModelV4({
    doStream: async () => {
      asked += 1;
      const content =
        asked === 1
          ? ([{ type: "tool-call", toolCallId: "call-1", toolName: "subagent", input: '{"task":"Count."}' }] as const)
          : ([
              { type: "text-start", id: "1" },
              { type: "text-delta", id: "1", delta: "Three." },
              { type: "text-end", id: "1" },
            ] as const);
      const unified = asked === 1 ? "tool-calls" : "stop";
      const finish = { type: "finish", finishReason: { unified, raw: undefined }, usage } as const;
      return {
        stream: simulateReadableStream({ chunks: [{ type: "stream-start", warnings: [] }, ...content, finish] }),
      };
    },
  });
  const { stream } = streamText({ model, tools: errand.tools(), stopWhen: isStepCount(3), prompt: "How many?" });
  const preliminary: unknown[] = [];
  const final: unknown[] = [];
  for await (const part of stream)
    if (part.type === "tool-result") (part.preliminary === true ? preliminary : final).push(part.output);
  expect(preliminary).toContainEqual(expect.objectContaining({ status: "working", activity: "Count.: look a.ts" }));
  expect(final).toMatchObject([{ status: "completed", summary: "Three files." }]);
});

test("aborting the loop cancels the run", async () => {
  const errand = await open(() => hang());
  const stop = new AbortController();
  const model = new MockLanguageModelV4({ doGenerate: [calls("subagent", { task: "x" })] });
  const looping = generateText({ model, tools: errand.tools(), abortSignal: stop.signal, prompt: "Go." });
  const settled = Promise.allSettled([looping]);
  await expect.poll(async () => (await errand.listRuns()).length).toBe(1);
  stop.abort();
  await settled;
  await expect.poll(async () => (await errand.listRuns())[0]?.status).toBe("cancelled");
});
