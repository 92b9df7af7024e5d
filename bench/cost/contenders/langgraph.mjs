/** LangGraph, through `createAgent` of langchain: the child is an agent that a tool of the parent invokes. */
import { ChatOpenAI } from "@langchain/openai";
import { createAgent, tool } from "langchain";
import { z } from "zod";
import { CHILD_PROMPT, lookUp, PARENT_PROMPT } from "../../script.mjs";
import { delegationByHand } from "../by-hand.mjs";

export const delegationOf = () => ({ tool: "child", args: (task) => ({ task }) });

export async function delegate({ url, background, question }) {
  const newModel = (model) => new ChatOpenAI({ model, apiKey: "none", configuration: { baseURL: url } });
  const lookup = tool(async ({ key }) => lookUp(key), {
    name: "lookup",
    description: "Looks an item up.",
    schema: z.object({ key: z.string() }),
  });
  const childAgent = createAgent({ model: newModel("child"), tools: [lookup], systemPrompt: CHILD_PROMPT });
  const byHand = delegationByHand(background, async (task) => {
    return (await childAgent.invoke({ messages: [{ role: "user", content: task }] })).messages.at(-1).text;
  });
  const child = tool(({ task }) => byHand.execute(task), {
    name: "child",
    description: "Hands a task to a child.",
    schema: z.object({ task: z.string() }),
  });
  const parent = createAgent({ model: newModel("parent"), tools: [child], systemPrompt: PARENT_PROMPT });
  let messages = [];
  return byHand.ask(async (text) => {
    const state = await parent.invoke({ messages: [...messages, { role: "user", content: text }] });
    messages = state.messages;
    return messages.at(-1).text;
  }, question);
}
