/** Mastra: a supervisor agent with a subagent. In the background a tool written by hand starts the subagent. */
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { Agent } from "@mastra/core/agent";
import { Mastra } from "@mastra/core/mastra";
import { createTool } from "@mastra/core/tools";
import { z } from "zod";
import { CHILD_PROMPT, lookUp, PARENT_PROMPT } from "../../script.mjs";
import { delegationByHand } from "../by-hand.mjs";

export const delegationOf = (background) =>
  background
    ? { tool: "start", args: (task) => ({ task }) }
    : { tool: "agent-child", args: (task) => ({ prompt: task }) };

export async function delegate({ url, background, question }) {
  const models = createOpenAICompatible({ name: "local", baseURL: url, apiKey: "none" });
  const lookup = createTool({
    id: "lookup",
    description: "Looks an item up.",
    inputSchema: z.object({ key: z.string() }),
    execute: async ({ key }) => lookUp(key),
  });
  const child = new Agent({
    id: "child",
    name: "child",
    description: "Looks items up.",
    instructions: CHILD_PROMPT,
    model: models("child"),
    tools: { lookup },
  });
  const byHand = delegationByHand(background, async (task) => (await child.generate(task)).text);
  const start = createTool({
    id: "start",
    description: "Hands a task to a child.",
    inputSchema: z.object({ task: z.string() }),
    execute: ({ task }) => byHand.execute(task),
  });
  const parent = new Agent({
    id: "parent",
    name: "parent",
    instructions: PARENT_PROMPT,
    model: models("parent"),
    ...(background ? { tools: { start } } : { agents: { child } }),
  });
  const agent = new Mastra({ agents: { parent, child }, logger: false }).getAgent("parent");
  let messages = [];
  return byHand.ask(async (text) => {
    messages = [...messages, { role: "user", content: text }];
    const result = await agent.generate(messages);
    messages = [...messages, ...result.response.messages];
    return result.text;
  }, question);
}
