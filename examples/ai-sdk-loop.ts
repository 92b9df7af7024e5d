/**
 * Delegation inside the loop of the AI SDK: `generateText` gets a tool that gives tasks to durable agents. Both models
 * are scripted, so it runs anywhere. To use real ones, change only the two `model` values.
 */

import assert from "node:assert/strict";
import { generateText, isStepCount } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { createErrand } from "errand";
import { callTool, createScriptedModels } from "errand/testing";

const errand = await createErrand({
  store: "memory",
  models: [
    createScriptedModels({
      "scripted/researcher": (_request, { replies }) =>
        replies === 0
          ? callTool("list_files", { path: "." })
          : callTool("send_agent_message", { text: "The license is MIT.", final: true }),
    }),
  ],
  agents: {
    researcher: { description: "Looks things up.", prompt: "You look things up.", model: "scripted/researcher" },
  },
});

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};
const task = "Find the license of this project.";
const model = new MockLanguageModelV4({
  doGenerate: [
    {
      content: [{ type: "tool-call", toolCallId: "1", toolName: "subagent", input: JSON.stringify({ task }) }],
      finishReason: { unified: "tool-calls", raw: undefined },
      usage,
      warnings: [],
    },
    {
      content: [{ type: "text", text: "It is under MIT." }],
      finishReason: { unified: "stop", raw: undefined },
      usage,
      warnings: [],
    },
  ],
});

const { text, steps } = await generateText({
  model,
  tools: errand.tools({ agents: ["researcher"] }),
  stopWhen: isStepCount(5),
  prompt: "What license is this?",
});

const [result] = steps.flatMap(({ toolResults }) => toolResults);
console.log(`the tool gave: ${JSON.stringify(result?.output)}`);
console.log(`the host says: ${text}`);
assert.equal(text, "It is under MIT.");
const [run] = await errand.listRuns();
assert.equal(run?.status, "ok");
assert.equal(await errand.result(run.id), "The license is MIT.");
assert.match(JSON.stringify(model.doGenerateCalls[1]?.prompt), /The license is MIT\./);
await errand.close();
