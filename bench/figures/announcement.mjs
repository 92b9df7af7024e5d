/** The announcement of ended background runs, as their parent's model reads it, without the findings themselves: tokens for 1, 2 and 10 runs. */
import { getEncoding } from "js-tiktoken";
import { createErrand } from "../../dist/index.js";

const FINDINGS = "value of item 1";
const usage = { input: 10, output: 2 };
const says = (text) => ({ parts: [{ type: "text", text }], usage, stop: "end" });
const calls = (name, inputs) => ({
  parts: inputs.map((input, index) => ({ type: "tool-call", id: `call_${index}`, name, input })),
  usage,
  stop: "tools",
});

export async function prepare() {}

async function announcementOf(runs) {
  const { promise: announced, resolve } = Promise.withResolvers();
  const parent = {
    async call({ messages }) {
      const last = messages.at(-1);
      if (last.role === "user" && last.text.includes(FINDINGS)) resolve(last.text);
      if (messages.length > 1) return says("Fine.");
      return calls(
        "start_background_agent",
        Array.from({ length: runs }, (_, index) => ({ task: `item ${index}` })),
      );
    },
  };
  const child = {
    call: async ({ messages }) =>
      messages.length === 1 ? calls("send_agent_message", [{ text: FINDINGS }]) : says("Reported."),
  };
  const errand = await createErrand({
    store: "memory",
    models: [
      {
        resolve: (name) => ({ model: name === "bench/parent" ? parent : child, facts: { window: null, price: null } }),
      },
    ],
    tools: [],
    agents: [
      { name: "orchestrator", prompt: "You delegate.", model: "bench/parent" },
      { name: "worker", prompt: "You look things up.", model: "bench/child" },
    ],
  });
  const agent = await errand.openAgent();
  await agent.postAndAwait("Begin.");
  const text = await announced;
  await errand.close();
  return text;
}

export async function measure() {
  const encoding = getEncoding("o200k_base");
  const count = (text) => encoding.encode(text).length;
  const of = async (runs) => count(await announcementOf(runs)) - runs * count(FINDINGS);
  return { one: await of(1), two: await of(2), ten: await of(10) };
}
