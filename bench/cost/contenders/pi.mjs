/** pi-agent-core over pi-ai: `Agent` with a tool that runs another `Agent`. */
import { Agent } from "@mariozechner/pi-agent-core";
import { Type } from "@mariozechner/pi-ai";
import { CHILD_PROMPT, lookUp, PARENT_PROMPT } from "../../script.mjs";
import { delegationByHand } from "../by-hand.mjs";

export const delegationOf = () => ({ tool: "child", args: (task) => ({ task }) });

const result = (text) => ({ content: [{ type: "text", text }], details: {} });
const textOf = ({ content }) =>
  typeof content === "string" ? content : content.map((part) => part.text ?? "").join("");

const lookup = {
  name: "lookup",
  label: "Look up",
  description: "Looks an item up.",
  parameters: Type.Object({ key: Type.String() }),
  execute: async (_id, { key }) => result(lookUp(key)),
};

export async function delegate({ url, background, question }) {
  function newAgent(id, systemPrompt, tools) {
    const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
    const about = { api: "openai-completions", provider: "openai", reasoning: false, input: ["text"], cost };
    const model = { id, name: id, baseUrl: url, contextWindow: 1_000_000, maxTokens: 10_000, ...about };
    return new Agent({
      initialState: { systemPrompt, model, tools, thinkingLevel: "off" },
      getApiKey: () => "none",
    });
  }
  async function send(agent, message) {
    await agent.prompt(message);
    return textOf(agent.state.messages.at(-1));
  }
  const byHand = delegationByHand(background, (task) => send(newAgent("child", CHILD_PROMPT, [lookup]), task));
  const child = {
    name: "child",
    label: "Child",
    description: "Hands a task to a child.",
    parameters: Type.Object({ task: Type.String() }),
    execute: async (_id, { task }) => result(await byHand.execute(task)),
  };
  const parent = newAgent("parent", PARENT_PROMPT, [child]);
  return byHand.ask((message) => send(parent, message), question);
}
