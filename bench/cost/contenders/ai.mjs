/** Vercel AI SDK: `ToolLoopAgent` with a tool that runs another, as its page on subagents shows. */
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { stepCountIs, tool, ToolLoopAgent } from "ai";
import { z } from "zod";
import { CHILD_PROMPT, lookUp, PARENT_PROMPT } from "../../script.mjs";
import { delegationByHand } from "../by-hand.mjs";

export const delegationOf = () => ({ tool: "child", args: (task) => ({ task }) });

export async function delegate({ url, background, question }) {
  const models = createOpenAICompatible({ name: "local", baseURL: url, apiKey: "none" });
  const lookup = tool({
    description: "Looks an item up.",
    inputSchema: z.object({ key: z.string() }),
    execute: async ({ key }) => lookUp(key),
  });
  const newAgent = (name, instructions, tools) =>
    new ToolLoopAgent({ model: models(name), instructions, tools, stopWhen: stepCountIs(8) });
  const byHand = delegationByHand(background, async (task) => {
    return (await newAgent("child", CHILD_PROMPT, { lookup }).generate({ prompt: task })).text;
  });
  const child = tool({
    description: "Hands a task to a child.",
    inputSchema: z.object({ task: z.string() }),
    execute: ({ task }) => byHand.execute(task),
  });
  const parent = newAgent("parent", PARENT_PROMPT, { child });
  const messages = [];
  return byHand.ask(async (text) => {
    messages.push({ role: "user", content: text });
    const result = await parent.generate({ messages });
    messages.push(...result.response.messages);
    return result.text;
  }, question);
}
