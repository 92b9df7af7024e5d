/**
 * pi-agent-core: `Agent` with a tool that runs another `Agent`. It stores nothing itself; the program stores each
 * message of the parent when it has ended, by `subscribe`. Restart: `continue()` from the stored messages, without a
 * reply whose tool calls have no results, because `continue()` refuses to start from that.
 */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Agent } from "@mariozechner/pi-agent-core";
import { Type } from "@mariozechner/pi-ai";
import { CHILD_PROMPT, PARENT_PROMPT } from "../../../script.mjs";

const result = (text) => ({ content: [{ type: "text", text }], details: {} });
const textOf = ({ content }) =>
  typeof content === "string" ? content : content.map((part) => part.text ?? "").join("");

export async function delegate({ url, folder, question, record, show, given }) {
  const file = join(folder, "messages.jsonl");
  function newAgent(id, systemPrompt, tools, messages = []) {
    const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
    const about = { api: "openai-completions", provider: "openai", reasoning: false, input: ["text"], cost };
    const model = { id, name: id, baseUrl: url, contextWindow: 1_000_000, maxTokens: 10_000, ...about };
    const initialState = { systemPrompt, model, tools, thinkingLevel: "off", messages };
    return new Agent({ initialState, getApiKey: () => "none" });
  }
  const recordTool = {
    name: "record",
    label: "Record",
    description: "Records an item.",
    parameters: Type.Object({ key: Type.String() }),
    execute: async (_id, { key }) => result(await record(key)),
  };
  const child = {
    name: "child",
    label: "Child",
    description: "Hands a task to a child.",
    parameters: Type.Object({ task: Type.String() }),
    async execute(_id, { task }) {
      const agent = newAgent("child", CHILD_PROMPT, [recordTool]);
      await agent.prompt(task);
      return result(textOf(agent.state.messages.at(-1)));
    },
  };
  const kept = existsSync(file)
    ? readFileSync(file, "utf8")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line))
    : [];
  const open = kept.at(-1)?.role === "assistant" && kept.at(-1).content.some(({ type }) => type === "toolCall");
  const parent = newAgent("parent", PARENT_PROMPT, [child], open ? kept.slice(0, -1) : kept);
  parent.subscribe((event) => {
    if (event.type === "message_end") appendFileSync(file, `${JSON.stringify(event.message)}\n`);
  });
  given();
  if (kept.length === 0) await parent.prompt(question);
  else if (parent.state.messages.at(-1).role !== "assistant") await parent.continue();
  show(textOf(parent.state.messages.at(-1)));
}
