/**
 * LangGraph, through `createAgent` of langchain, which replaces its own `createReactAgent`. A tool of the parent
 * invokes the child agent. With a checkpointer, parent and child are stored after every step. The saver writes SQLite
 * in WAL mode with `synchronous=NORMAL`, the default of its driver, whatever durability the benchmark asks for.
 */
import { randomUUID } from "node:crypto";
import { SqliteSaver } from "@langchain/langgraph-checkpoint-sqlite";
import { createAgent, tool } from "langchain";
import { z } from "zod";
import { ScriptedChatModel } from "./models/langchain-model.mjs";
import { answerFor, CHILD_PROMPT, itemIn, lookUp, PARENT_PROMPT, tasksFor } from "../script.mjs";

const lookup = tool(async ({ key }) => lookUp(key), {
  name: "lookup",
  description: "Looks an item up.",
  schema: z.object({ key: z.string() }),
});

const childModel = new ScriptedChatModel((text, results) =>
  results.length > 0 ? { text: results[0] } : { name: "lookup", inputs: [{ key: itemIn(text) }] },
);
const parentModel = new ScriptedChatModel((text, results) =>
  results.length > 0
    ? { text: answerFor(results) }
    : { name: "child", inputs: tasksFor(text).map((task) => ({ task })) },
);

export async function open({ path }) {
  const checkpointer = path === null ? undefined : SqliteSaver.fromConnString(path);
  const childAgent = createAgent({ model: childModel, tools: [lookup], systemPrompt: CHILD_PROMPT });
  const child = tool(
    async ({ task }) => (await childAgent.invoke({ messages: [{ role: "user", content: task }] })).messages.at(-1).text,
    { name: "child", description: "Hands a task to a child.", schema: z.object({ task: z.string() }) },
  );
  const parent = createAgent({ model: parentModel, tools: [child], systemPrompt: PARENT_PROMPT, checkpointer });
  return {
    async conversation() {
      const config = { configurable: { thread_id: randomUUID() } };
      let messages = [];
      return async (text) => {
        const asked = { role: "user", content: text };
        const state = await parent.invoke(
          { messages: checkpointer === undefined ? [...messages, asked] : [asked] },
          config,
        );
        messages = state.messages;
        return messages.at(-1).text;
      };
    },
    close: async () => checkpointer?.db.close(),
  };
}
