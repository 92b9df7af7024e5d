/** deepagents: the parent's `task` tool starts a subagent. In the background a tool written by hand starts it. */
import { ChatOpenAI } from "@langchain/openai";
import { createDeepAgent } from "deepagents";
import { tool } from "langchain";
import { z } from "zod";
import { CHILD_PROMPT, lookUp, PARENT_PROMPT } from "../../script.mjs";
import { delegationByHand } from "../by-hand.mjs";

export const delegationOf = (background) =>
  background
    ? { tool: "start", args: (task) => ({ task }) }
    : { tool: "task", args: (task) => ({ description: task, subagent_type: "child" }) };

export async function delegate({ url, background, question }) {
  const newModel = (model) => new ChatOpenAI({ model, apiKey: "none", configuration: { baseURL: url } });
  const lookup = tool(async ({ key }) => lookUp(key), {
    name: "lookup",
    description: "Looks an item up.",
    schema: z.object({ key: z.string() }),
  });
  const child = { name: "child", description: "Looks items up.", systemPrompt: CHILD_PROMPT };
  const byHand = delegationByHand(background, async (task) => {
    const agent = createDeepAgent({ model: newModel("child"), systemPrompt: CHILD_PROMPT, tools: [lookup] });
    return (await agent.invoke({ messages: [{ role: "user", content: task }] })).messages.at(-1).text;
  });
  const start = tool(({ task }) => byHand.execute(task), {
    name: "start",
    description: "Hands a task to a child.",
    schema: z.object({ task: z.string() }),
  });
  const parent = createDeepAgent({
    model: newModel("parent"),
    systemPrompt: PARENT_PROMPT,
    ...(background ? { tools: [start] } : { subagents: [{ ...child, tools: [lookup], model: newModel("child") }] }),
  });
  let messages = [];
  return byHand.ask(async (text) => {
    const state = await parent.invoke({ messages: [...messages, { role: "user", content: text }] });
    messages = state.messages;
    return messages.at(-1).text;
  }, question);
}
