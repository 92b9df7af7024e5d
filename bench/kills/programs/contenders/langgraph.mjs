/**
 * LangGraph, through `createAgent` of langchain, with its SQLite checkpointer and `durability: "sync"`. The child is
 * invoked with the parent's config, so that it is checkpointed too. Restart: `invoke(null)` on the same thread goes on
 * from the last checkpoint.
 */
import { join } from "node:path";
import { SqliteSaver } from "@langchain/langgraph-checkpoint-sqlite";
import { ChatOpenAI } from "@langchain/openai";
import { createAgent, tool } from "langchain";
import { z } from "zod";
import { CHILD_PROMPT, PARENT_PROMPT } from "../../../script.mjs";
import { continueThread } from "../langgraph-thread.mjs";

export async function delegate({ url, folder, question, record, show, given }) {
  const newModel = (model) => new ChatOpenAI({ model, apiKey: "none", configuration: { baseURL: url } });
  const recordTool = tool(({ key }) => record(key), {
    name: "record",
    description: "Records an item.",
    schema: z.object({ key: z.string() }),
  });
  const childAgent = createAgent({ model: newModel("child"), tools: [recordTool], systemPrompt: CHILD_PROMPT });
  const child = tool(
    async ({ task }, config) => {
      const state = await childAgent.invoke({ messages: [{ role: "user", content: task }] }, config);
      return state.messages.at(-1).text;
    },
    { name: "child", description: "Hands a task to a child.", schema: z.object({ task: z.string() }) },
  );
  const checkpointer = SqliteSaver.fromConnString(join(folder, "store.db"));
  const parent = createAgent({
    model: newModel("parent"),
    tools: [child],
    systemPrompt: PARENT_PROMPT,
    checkpointer,
  });
  given();
  show(await continueThread(parent.graph ?? parent, parent, question));
}
