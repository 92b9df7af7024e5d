/** deepagents: the parent's `task` tool starts a subagent of its own definition. Stored as langgraph's agents are. */
import { randomUUID } from "node:crypto";
import { SqliteSaver } from "@langchain/langgraph-checkpoint-sqlite";
import { createDeepAgent } from "deepagents";
import { tool } from "langchain";
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
    : {
        name: "task",
        inputs: tasksFor(text).map((task) => ({ description: task, subagent_type: "child" })),
      },
);

export async function open({ path }) {
  const checkpointer = path === null ? undefined : SqliteSaver.fromConnString(path);
  const parent = createDeepAgent({
    model: parentModel,
    systemPrompt: PARENT_PROMPT,
    subagents: [
      { name: "child", description: "Looks items up.", systemPrompt: CHILD_PROMPT, tools: [lookup], model: childModel },
    ],
    ...(checkpointer === undefined ? {} : { checkpointer }),
  });
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
