/**
 * Errand, as built: awaited children (`subagent`) that report with `final`, in memory or in SQLite. The number of model
 * calls is that of the peers.
 */
import { createErrand } from "../../dist/index.js";
import { answerFor, CHILD_PROMPT, itemIn, lookUp, PARENT_PROMPT, tasksFor } from "../script.mjs";

const usage = { input: 100, output: 20 };
const says = (text) => ({ parts: [{ type: "text", text }], usage, stop: "end" });
const calls = (name, inputs) => ({
  parts: inputs.map((input, index) => ({ type: "tool-call", id: `call_${index}`, name, input })),
  usage,
  stop: "tools",
});

/** The results of the calls in the last reply. */
function lastResults(messages) {
  const last = messages.at(-1);
  return last?.role === "tool" ? last.results.map((result) => result.text) : null;
}

const models = {
  parent: {
    async call({ messages }) {
      const results = lastResults(messages);
      if (results !== null) return says(answerFor(results));
      return calls(
        "subagent",
        tasksFor(messages.at(-1).text).map((task) => ({ task })),
      );
    },
  },
  child: {
    async call({ messages }) {
      const results = lastResults(messages);
      if (results === null) return calls("lookup", [{ key: itemIn(messages.at(-1).text) }]);
      return calls("send_agent_message", [{ text: results[0], final: true }]);
    },
  },
};

export const lookupTool = {
  name: "lookup",
  description: "Looks an item up.",
  schema: { type: "object", properties: { key: { type: "string" } }, required: ["key"] },
  safe: true,
  run: async ({ key }) => ({ text: lookUp(key), failed: false }),
};

/** The options of the runtime, without its store. */
export const errandOptions = {
  models: [
    {
      resolve: (name) => ({
        model: name === "bench/parent" ? models.parent : models.child,
        facts: { window: null, price: null },
      }),
    },
  ],
  tools: [lookupTool],
  agents: {
    orchestrator: { prompt: PARENT_PROMPT, model: "bench/parent" },
    worker: { prompt: CHILD_PROMPT, model: "bench/child" },
    researcher: { prompt: CHILD_PROMPT, model: "bench/child" },
  },
  // The defaults limit what a user pays: 100 runs in a tree, 8 at a time, 1,000 model calls for a request.
  limits: { runsPerTree: 100_000, liveChildren: 64, modelCallsPerRequest: 1_000_000 },
};

export async function open({ path, durability }) {
  const errand = await createErrand({ ...errandOptions, store: path === null ? "memory" : { path, durability } });
  return {
    async conversation() {
      let agent = null;
      return async (message) => {
        if (agent !== null) return (await agent.postAndAwait(message)).text;
        const started = await errand.start(message);
        agent = started.agent;
        return (await started.reply()).text;
      };
    },
    close: () => errand.close(),
  };
}
