/**
 * Mastra: a supervisor agent with a subagent. A conversation is a thread of its memory. With storage this is LibSQL in
 * a file. Without it this is LibSQL in memory for the conversation of W3, and no memory for single turns.
 */
import { randomUUID } from "node:crypto";
import { Agent } from "@mastra/core/agent";
import { Mastra } from "@mastra/core/mastra";
import { createTool } from "@mastra/core/tools";
import { LibSQLStore } from "@mastra/libsql";
import { Memory } from "@mastra/memory";
import { z } from "zod";
import { aiSdkModel } from "./models/ai-sdk-model.mjs";
import { answerFor, CHILD_PROMPT, itemIn, lookUp, PARENT_PROMPT, tasksFor } from "../script.mjs";

const lookup = createTool({
  id: "lookup",
  description: "Looks an item up.",
  inputSchema: z.object({ key: z.string() }),
  execute: async ({ key }) => lookUp(key),
});

const childModel = aiSdkModel("child", (last) =>
  last.results === null ? { name: "lookup", inputs: [{ key: itemIn(last.text) }] } : { text: last.results[0] },
);
const parentModel = aiSdkModel("parent", (last) =>
  last.results === null
    ? { name: "agent-child", inputs: tasksFor(last.text).map((task) => ({ prompt: task })) }
    : { text: answerFor(last.results) },
);

export async function open({ path }) {
  const storage = path === null ? undefined : new LibSQLStore({ id: "bench", url: `file:${path}` });
  const memory = storage === undefined ? undefined : new Memory({ storage });
  const child = new Agent({
    id: "child",
    name: "child",
    description: "Looks items up.",
    instructions: CHILD_PROMPT,
    model: childModel,
    tools: { lookup },
    ...(memory === undefined ? {} : { memory }),
  });
  const parent = new Agent({
    id: "parent",
    name: "parent",
    instructions: PARENT_PROMPT,
    model: parentModel,
    agents: { child },
    ...(memory === undefined ? {} : { memory }),
  });
  const mastra = new Mastra({
    agents: { parent, child },
    logger: false,
    ...(storage === undefined ? {} : { storage }),
  });
  const agent = mastra.getAgent("parent");
  return {
    async conversation() {
      const thread = randomUUID();
      let messages = [];
      return async (text) => {
        if (memory !== undefined) return (await agent.generate(text, { memory: { thread, resource: "user" } })).text;
        messages.push({ role: "user", content: text });
        const result = await agent.generate(messages);
        messages = [...messages, ...result.response.messages];
        return result.text;
      };
    },
    close: async () => storage?.close?.(),
  };
}
