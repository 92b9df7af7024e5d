/**
 * OpenAI Agents SDK: the child is a tool of the parent (`asTool`), a conversation is a session. In the background the
 * tool is written by hand.
 */
import { Agent, MemorySession, OpenAIProvider, Runner, setTracingDisabled, tool } from "@openai/agents";
import { z } from "zod";
import { CHILD_PROMPT, lookUp, PARENT_PROMPT } from "../../script.mjs";
import { delegationByHand } from "../by-hand.mjs";

export const delegationOf = () => ({ tool: "child", args: (task) => ({ input: task }) });

export async function delegate({ url, background, question }) {
  setTracingDisabled(true);
  const modelProvider = new OpenAIProvider({ apiKey: "none", baseURL: url, useResponses: false });
  const runner = new Runner({ modelProvider, tracingDisabled: true });
  const lookup = tool({
    name: "lookup",
    description: "Looks an item up.",
    parameters: z.object({ key: z.string() }),
    execute: async ({ key }) => lookUp(key),
  });
  const childAgent = new Agent({ name: "child", instructions: CHILD_PROMPT, model: "child", tools: [lookup] });
  const byHand = delegationByHand(background, async (task) => (await runner.run(childAgent, task)).finalOutput);
  const about = { toolName: "child", toolDescription: "Hands a task to a child." };
  const started = tool({
    name: about.toolName,
    description: about.toolDescription,
    parameters: z.object({ input: z.string() }),
    execute: ({ input }) => byHand.execute(input),
  });
  const child = background ? started : childAgent.asTool({ ...about, runConfig: { modelProvider } });
  const parent = new Agent({ name: "parent", instructions: PARENT_PROMPT, model: "parent", tools: [child] });
  const session = new MemorySession();
  return byHand.ask(async (message) => (await runner.run(parent, message, { session })).finalOutput, question);
}
