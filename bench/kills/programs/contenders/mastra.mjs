/**
 * Mastra's agent with memory, saved after each step (`savePerStep`). Restart: if memory has the answer it is shown.
 * Otherwise the question is asked again on the same thread.
 *
 * In the background the subagent is a background task that may be retried. It is also registered as a tool of Mastra:
 * otherwise tasks that continue after a restart fail, with an error that asks for this. Restart: the manager continues
 * its tasks. When no task is open, the program reads their results and sends the agent those that memory does not have.
 * If there is no result and the user has no answer either, the question is asked again.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { Mastra } from "@mastra/core/mastra";
import { createTool } from "@mastra/core/tools";
import { z } from "zod";
import { lastAnswer, mastraAgents, rememberedIn, showTexts, THREAD } from "../mastra-agents.mjs";

/** The longest time that continued tasks may stay open. */
const TASKS_MS = 8_000;

export async function delegate(options) {
  const { background, again, question, show, given } = options;
  const { parent, child, storage, memory } = mastraAgents(options);
  const mastra = new Mastra({
    agents: { parent, child },
    storage,
    logger: false,
    ...(background ? inBackground(child) : {}),
  });
  const agent = mastra.getAgent("parent");
  given();
  const remembered = again ? await rememberedIn(memory) : [];
  const kept = lastAnswer(remembered);
  if (kept?.includes("answer:")) return show(kept);
  const how = { memory: THREAD, savePerStep: true, ...(background ? { untilIdle: true } : {}) };
  const results = background && again ? await newResults(mastra, memory) : [];
  const ask = kept === null && results.length === 0 ? question : ["What came of it?", ...results].join("\n");
  await showTexts((await agent.stream(ask, how)).fullStream, show);
  if (!again) return;
  // The stream is idle.
  await sleep(250);
  process.exit(0);
}

function inBackground(child) {
  const tool = createTool({
    id: "agent-child",
    description: "Hands a task to a child.",
    inputSchema: z.object({ prompt: z.string() }),
    execute: async ({ prompt }) => ({ text: (await child.generate(prompt)).text }),
  });
  return { backgroundTasks: { enabled: true, defaultRetries: { maxRetries: 2 } }, tools: { "agent-child": tool } };
}

/** The results of ended tasks that memory does not have. */
async function newResults(mastra, memory) {
  await tasksEnded(mastra);
  const { tasks } = await mastra.backgroundTaskManager.listTasks({ status: "completed" });
  const known = JSON.stringify(await rememberedIn(memory));
  const results = tasks.map(({ result }) => result.text).filter((text) => !known.includes(text));
  return results.map((text) => `A task ended with: ${text}`);
}

async function tasksEnded(mastra) {
  const until = performance.now() + TASKS_MS;
  while (performance.now() < until) {
    const { tasks } = await mastra.backgroundTaskManager.listTasks({ status: ["pending", "running"] });
    if (tasks.length === 0) return;
    await sleep(50);
  }
}
