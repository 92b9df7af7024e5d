/**
 * Waiting agents whose trees are not in memory: their cost for the process that owns the store, and the time to wake.
 */
import { join } from "node:path";
import { createErrand } from "../../dist/index.js";

const says = { parts: [{ type: "text", text: "Noted." }], usage: { input: 10, output: 2 }, stop: "end" };
const options = {
  models: [{ resolve: () => ({ model: { call: async () => says }, facts: { window: null, price: null } }) }],
  tools: [],
  model: "bench/waiting",
  agents: { orchestrator: { prompt: "You wait.", model: "bench/waiting" } },
};

/** One agent in a hundred has a context of 64 KB, one in ten of 8 KB, the others of 1 KB. */
const contextOf = (number) => "x".repeat(number % 100 === 0 ? 65_536 : number % 10 === 0 ? 8_192 : 1_024);

export async function prepare({ folder, agents }) {
  const errand = await createErrand({ ...options, store: { path: join(folder, "store.db"), durability: "relaxed" } });
  let next = 0;
  const worker = async () => {
    while (next < agents) {
      const number = next;
      next += 1;
      const agent = await errand.openAgent();
      await agent.postAndAwait(contextOf(number));
    }
  };
  await Promise.all(Array.from({ length: 256 }, worker));
  await errand.close();
}

export async function measure({ folder, agents, empty, durability }) {
  const path = join(folder, empty ? "empty.db" : "store.db");
  const errand = await createErrand({ ...options, store: { path, durability } });
  globalThis.gc();
  const openMb = process.memoryUsage().rss / 2 ** 20;
  if (empty) return { openMb };
  const ids = (await errand.listTrees({ limit: agents })).map(({ id }) => id);
  const times = [];
  for (let wake = 0; wake < 500; wake += 1) {
    const agent = await errand.agent(ids[Math.floor(Math.random() * ids.length)]);
    const begun = performance.now();
    await agent.post("Still there?");
    times.push(performance.now() - begun);
  }
  await errand.close();
  times.sort((a, b) => a - b);
  return { openMb, agents: ids.length, wakeP50: times[249], wakeP99: times[494] };
}
