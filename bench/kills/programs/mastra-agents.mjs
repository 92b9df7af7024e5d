/** Mastra: a supervisor with a subagent, both with memory, stored in LibSQL. */
import { join } from "node:path";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { Agent } from "@mastra/core/agent";
import { createTool } from "@mastra/core/tools";
import { LibSQLStore } from "@mastra/libsql";
import { Memory } from "@mastra/memory";
import { z } from "zod";
import { CHILD_PROMPT, PARENT_PROMPT } from "../../script.mjs";

export const THREAD = { thread: "thread", resource: "user" };

export function mastraAgents({ url, folder, record, background }) {
  const models = createOpenAICompatible({ name: "local", baseURL: url, apiKey: "none" });
  const storage = new LibSQLStore({ id: "kills", url: `file:${join(folder, "store.db")}` });
  const memory = new Memory({ storage });
  const recordTool = createTool({
    id: "record",
    description: "Records an item.",
    inputSchema: z.object({ key: z.string() }),
    execute: ({ key }) => record(key),
  });
  const child = new Agent({
    id: "child",
    name: "child",
    description: "Records items.",
    instructions: CHILD_PROMPT,
    model: models("child"),
    tools: { record: recordTool },
    memory,
  });
  const parent = new Agent({
    id: "parent",
    name: "parent",
    instructions: PARENT_PROMPT,
    model: models("parent"),
    agents: { child },
    memory,
    ...(background ? { backgroundTasks: { tools: { child: { enabled: true } } } } : {}),
  });
  return { parent, child, storage, memory };
}

/** Shows each text of a stream when its step has ended. */
export async function showTexts(fullStream, show) {
  let text = "";
  for await (const chunk of fullStream) {
    if (chunk.type === "error") throw chunk.payload.error;
    if (chunk.type === "text-delta") text += chunk.payload.text;
    if (chunk.type !== "step-finish" && chunk.type !== "finish") continue;
    if (text !== "") show(text);
    text = "";
  }
}

/** The messages in the thread's memory; empty if the thread does not exist yet. */
export async function rememberedIn(memory) {
  const { thread: threadId, resource: resourceId } = THREAD;
  const thread = await memory.getThreadById({ threadId });
  return thread === null ? [] : (await memory.recall({ threadId, resourceId })).messages;
}

/** The text of the last message, if it is from the agent. */
export function lastAnswer(messages) {
  const last = messages.at(-1);
  if (last?.role !== "assistant") return null;
  const text = last.content.parts.map((part) => part.text ?? "").join("");
  return text === "" ? null : text;
}
