/**
 * Vercel AI SDK: `ToolLoopAgent` with a tool that runs another. It stores nothing itself. As its page on persistence
 * shows, the program stores the messages: the user's at once, the parent's after each step. Restart: `generate` from
 * the stored messages.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { stepCountIs, tool, ToolLoopAgent } from "ai";
import { z } from "zod";
import { CHILD_PROMPT, PARENT_PROMPT } from "../../../script.mjs";

export async function delegate({ url, folder, question, record, show, given }) {
  const file = join(folder, "messages.json");
  const models = createOpenAICompatible({ name: "local", baseURL: url, apiKey: "none" });
  const newAgent = (name, instructions, tools) =>
    new ToolLoopAgent({ model: models(name), instructions, tools, stopWhen: stepCountIs(8) });
  const childAgent = newAgent("child", CHILD_PROMPT, {
    record: tool({
      description: "Records an item.",
      inputSchema: z.object({ key: z.string() }),
      execute: ({ key }) => record(key),
    }),
  });
  const parent = newAgent("parent", PARENT_PROMPT, {
    child: tool({
      description: "Hands a task to a child.",
      inputSchema: z.object({ task: z.string() }),
      execute: async ({ task }) => (await childAgent.generate({ prompt: task })).text,
    }),
  });
  given();
  const messages = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : [{ role: "user", content: question }];
  const keep = (more) => {
    writeFileSync(`${file}.new`, JSON.stringify([...messages, ...more]));
    renameSync(`${file}.new`, file);
  };
  keep([]);
  const last = messages.at(-1);
  if (last.role === "assistant") return show(last.content.map((part) => part.text ?? "").join(""));
  const { text } = await parent.generate({ messages, onStepFinish: ({ response }) => keep(response.messages) });
  show(text);
}
