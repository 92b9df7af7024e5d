/** A process with open runs is killed, and the next one continues them. Each run has an open call of a safe tool. */
import { join } from "node:path";
import { createErrand } from "../../dist/index.js";

const usage = { input: 10, output: 2 };
const calls = (name, input) => ({
  parts: [{ type: "tool-call", id: "call_0", name, input }],
  usage,
  stop: "tools",
});
const parent = { call: async () => calls("subagent", { task: "Wait." }) };
const child = { call: async () => calls("wait", {}) };

/** Opens the store. `all` resolves when this process has so many open calls of the tool. */
function opened(folder, runs) {
  const { promise: all, resolve } = Promise.withResolvers();
  let waiting = 0;
  const wait = {
    name: "wait",
    description: "Waits.",
    schema: { type: "object" },
    safe: true,
    run: () => {
      waiting += 1;
      if (waiting === runs) resolve();
      return new Promise(() => {});
    },
  };
  const errand = createErrand({
    store: join(folder, "store.db"),
    slots: runs,
    model: "bench/child",
    models: [
      {
        resolve: (name) => ({ model: name === "bench/parent" ? parent : child, facts: { window: null, price: null } }),
      },
    ],
    tools: [wait],
    agents: {
      orchestrator: { prompt: "You delegate.", model: "bench/parent" },
      worker: { prompt: "You wait.", model: "bench/child" },
    },
  });
  return { errand, all };
}

export async function prepare({ folder, runs }) {
  const { errand, all } = opened(folder, runs);
  const agents = await Promise.all(Array.from({ length: runs }, async () => (await errand).openAgent()));
  for (const agent of agents) await agent.post("Begin.");
  await all;
  process.kill(process.pid, "SIGKILL");
}

export async function measure({ folder, runs }) {
  const begun = performance.now();
  const { errand, all } = opened(folder, runs);
  await all;
  const seconds = (performance.now() - begun) / 1000;
  const open = (await (await errand).runs({ limit: 2 * runs })).filter(({ state }) => state !== "ended").length;
  return { seconds, open };
}
