/** pi-agent-core: `Agent` with a tool that runs another `Agent`. It stores nothing. */
import { Agent } from "@mariozechner/pi-agent-core";
import { createAssistantMessageEventStream, Type } from "@mariozechner/pi-ai";
import { answerFor, CHILD_PROMPT, itemIn, lookUp, PARENT_PROMPT, tasksFor } from "../script.mjs";

export const durable = false;

const model = {
  id: "scripted",
  name: "scripted",
  api: "scripted",
  provider: "scripted",
  baseUrl: "",
  reasoning: false,
  input: ["text"],
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  contextWindow: 1_000_000,
  maxTokens: 10_000,
};
const usage = {
  input: 100,
  output: 20,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 120,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};

function streamed(content) {
  const stopReason = content.some((part) => part.type === "toolCall") ? "toolUse" : "stop";
  const message = {
    role: "assistant",
    content,
    api: model.api,
    provider: model.provider,
    model: model.id,
    usage,
    stopReason,
    timestamp: Date.now(),
  };
  const stream = createAssistantMessageEventStream();
  stream.push({ type: "start", partial: message });
  stream.push({ type: "done", reason: stopReason, message });
  stream.end(message);
  return stream;
}

const textOf = (message) =>
  typeof message.content === "string" ? message.content : message.content.map((part) => part.text ?? "").join("");
const says = (text) => streamed([{ type: "text", text }]);
const calls = (name, inputs) =>
  streamed(inputs.map((input, index) => ({ type: "toolCall", id: `call_${index}`, name, arguments: input })));

/** Results after the last reply, in the order of the calls. */
function lastResults(messages) {
  const from = messages.findLastIndex((message) => message.role !== "toolResult") + 1;
  return messages.slice(from).map(textOf);
}

function parentStream(_model, { messages }) {
  const results = lastResults(messages);
  if (results.length > 0) return says(answerFor(results));
  return calls(
    "child",
    tasksFor(textOf(messages.at(-1))).map((task) => ({ task })),
  );
}

function childStream(_model, { messages }) {
  const results = lastResults(messages);
  if (results.length > 0) return says(results[0]);
  return calls("lookup", [{ key: itemIn(textOf(messages.at(-1))) }]);
}

const result = (text) => ({ content: [{ type: "text", text }], details: {} });

const lookup = {
  name: "lookup",
  label: "Look up",
  description: "Looks an item up.",
  parameters: Type.Object({ key: Type.String() }),
  execute: async (_id, { key }) => result(lookUp(key)),
};

function newAgent(systemPrompt, tools, streamFn) {
  return new Agent({ initialState: { systemPrompt, model, tools, thinkingLevel: "off" }, streamFn });
}

async function ask(agent, message) {
  await agent.prompt(message);
  return textOf(agent.state.messages.at(-1));
}

const child = {
  name: "child",
  label: "Child",
  description: "Hands a task to a child.",
  parameters: Type.Object({ task: Type.String() }),
  execute: async (_id, { task }) => result(await ask(newAgent(CHILD_PROMPT, [lookup], childStream), task)),
};

export async function open() {
  return {
    async conversation() {
      const agent = newAgent(PARENT_PROMPT, [child], parentStream);
      return (message) => ask(agent, message);
    },
    close: async () => {},
  };
}
