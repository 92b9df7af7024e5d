/** Vercel AI SDK: `ToolLoopAgent` with a tool that runs another, as its page on subagents shows. It stores nothing. */
import { stepCountIs, tool, ToolLoopAgent } from "ai";
import { z } from "zod";
import { aiSdkModel } from "./models/ai-sdk-model.mjs";
import { answerFor, CHILD_PROMPT, itemIn, lookUp, PARENT_PROMPT, tasksFor } from "../script.mjs";

export const durable = false;

const childAgent = new ToolLoopAgent({
  model: aiSdkModel("child", (last) =>
    last.results === null ? { name: "lookup", inputs: [{ key: itemIn(last.text) }] } : { text: last.results[0] },
  ),
  instructions: CHILD_PROMPT,
  tools: {
    lookup: tool({
      description: "Looks an item up.",
      inputSchema: z.object({ key: z.string() }),
      execute: async ({ key }) => lookUp(key),
    }),
  },
  stopWhen: stepCountIs(8),
});

const parentAgent = new ToolLoopAgent({
  model: aiSdkModel("parent", (last) =>
    last.results === null
      ? { name: "child", inputs: tasksFor(last.text).map((task) => ({ task })) }
      : { text: answerFor(last.results) },
  ),
  instructions: PARENT_PROMPT,
  tools: {
    child: tool({
      description: "Hands a task to a child.",
      inputSchema: z.object({ task: z.string() }),
      execute: async ({ task }, { abortSignal }) => (await childAgent.generate({ prompt: task, abortSignal })).text,
    }),
  },
  stopWhen: stepCountIs(8),
});

export async function open() {
  return {
    async conversation() {
      const messages = [];
      return async (text) => {
        messages.push({ role: "user", content: text });
        const result = await parentAgent.generate({ messages });
        messages.push(...result.response.messages);
        return result.text;
      };
    },
    close: async () => {},
  };
}
