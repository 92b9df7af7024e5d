/**
 * Models that show what they are sent. `showing/NAME`: a root delegates to the agent NAME, a
 * child reports its own system prompt and the names of its tools, and the root answers `{ system, tools, child }` as
 * JSON, `child` being the result of its call. With `showing/none` it answers at once.
 */

import type { Model, ModelProvider, ModelReply } from "../../../src/contracts/model.ts";

function showingModel(agent: string): Model {
  return {
    async call(request): Promise<ModelReply> {
      const last = request.messages.at(-1);
      const seen = { system: request.system, tools: request.tools.map(({ name }) => name) };
      if (request.system.includes("You are a child agent")) {
        const report = { name: "send_agent_message", input: { text: JSON.stringify(seen) } };
        return last?.role === "user" ? called(report) : said("over");
      }
      if (last?.role === "user" && agent !== "none") return called({ name: "subagent", input: { task: "go", agent } });
      return said(JSON.stringify({ ...seen, child: last?.role === "tool" ? last.results[0]?.text : null }));
    },
  };
}

function called(call: { readonly name: string; readonly input: Record<string, string> }): ModelReply {
  return { parts: [{ type: "tool-call", id: "call_1", ...call }], usage: null, stop: "tools" };
}

function said(text: string): ModelReply {
  return { parts: [{ type: "text", text }], usage: null, stop: "end" };
}

export const showingProvider: ModelProvider = {
  resolve(name) {
    const [, agent] = /^showing\/([\w-]+)$/.exec(name) ?? [];
    if (agent === undefined) return { unavailable: `There is no model ${name}.` };
    return { model: showingModel(agent), facts: { window: null, price: null } };
  },
};
