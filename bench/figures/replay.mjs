/** Proves a journal: makes every decision again, builds every context again, compares every hash. */
import { join } from "node:path";
import { createErrand } from "../../dist/index.js";
import { errandOptions } from "../contenders/errand.mjs";
import { answerOne, askOne } from "../script.mjs";

export async function prepare({ folder, delegations }) {
  const store = { path: join(folder, "store.db"), durability: "relaxed" };
  const errand = await createErrand({ ...errandOptions, store });
  const agent = await errand.openAgent();
  for (let number = 0; number < delegations; number += 1) {
    const { text } = await agent.postAndAwait(askOne(number));
    if (text !== answerOne(number)) throw new Error(`wrong answer: ${text}`);
  }
  await errand.close();
}

function processorMs() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000_000;
}

/** The replays that warm up the process, and those that are measured after them. */
const WARM = 8;
const COUNTED = 9;

export async function measure({ folder }) {
  const errand = await createErrand({ ...errandOptions, store: join(folder, "store.db") });
  const [tree] = await errand.listTrees({ limit: 1 });
  const rates = [];
  for (let time = 0; time < WARM + COUNTED; time += 1) {
    // Processor time, which other load on the machine does not change.
    const begun = processorMs();
    const report = await errand.replay(tree.id);
    if (report.difference !== null || report.decided !== report.rows) throw new Error("not proven");
    rates.push(report.facts / (processorMs() - begun));
  }
  await errand.close();
  const warm = rates.slice(WARM).toSorted((a, b) => a - b);
  return { first: rates[0], eventsPerSecond: warm[Math.floor(COUNTED / 2)] };
}
