/**
 * Many conversations with a channel each, that end or rest, in a process of its own: how much memory and idle work they
 * cost.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { type Agent, createErrand, type ModelReply } from "../../src/index.ts";

export interface ChannelCost {
  readonly conversations: number;
  /** Messages that channels took. */
  readonly delivered: number;
  /** Of the heap, for each conversation. */
  readonly bytes: number;
  /** Channels that the runtime still holds. */
  readonly held: number;
  /** Part of a core that the process takes while nothing happens; null where no conversation is kept. */
  readonly idle: number | null;
}

const { store, conversations, ends } = JSON.parse(process.argv[2] ?? "{}") as {
  readonly store: string;
  readonly conversations: number;
  /**
   * `closed`: each is closed, and the program keeps its agent for a while. `left`: each rests, and the program drops
   * its agent. `kept`: each rests, and the program keeps its agent.
   */
  readonly ends: "closed" | "left" | "kept";
};
const AT_A_TIME = 250;
const WARM_UP = 2 * AT_A_TIME;
const IDLE_MS = 1_000;
const reply: ModelReply = { parts: [{ type: "text", text: "heard" }], usage: { input: 1, output: 1 }, stop: "end" };
const errand = await createErrand({
  store: store.startsWith("postgres:") ? store : { path: store, durability: "relaxed" },
  models: [{ resolve: () => ({ model: { call: async () => reply }, facts: { window: null, price: null } }) }],
  model: "own/model",
});
let delivered = 0;
const kept: Agent[] = [];

async function converse(): Promise<void> {
  const channel = { deliver: async () => void (delivered += 1) };
  const { agent, reply: answer } = await errand.start("go", { channel });
  await answer();
  if (ends === "closed") await agent.close();
  if (ends !== "left") kept.push(agent);
}

async function hold(count: number): Promise<void> {
  for (let done = 0; done < count; done += AT_A_TIME)
    await Promise.all(Array.from({ length: Math.min(AT_A_TIME, count - done) }, converse));
}

async function heap(): Promise<number> {
  for (let times = 0; times < 4; times += 1) {
    globalThis.gc?.();
    await sleep(50);
  }
  return process.memoryUsage().heapUsed;
}

/**
 * Other work of the machine, and what is left of the work before, only add to it: the least of a few stretches counts.
 */
async function idle(): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let stretch = 0; stretch < 3; stretch += 1) {
    const before = process.cpuUsage();
    await sleep(IDLE_MS);
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1_000 / IDLE_MS);
  }
  return least;
}

await hold(WARM_UP);
if (ends === "closed") kept.length = 0;
const before = await heap();
await hold(conversations);
await heap();
const held = errand.channels().length;
if (ends === "closed") kept.length = 0;
const bytes = ((await heap()) - before) / conversations;
const cost: ChannelCost = {
  conversations: conversations + WARM_UP,
  delivered,
  bytes,
  held,
  idle: ends === "kept" ? await idle() : null,
};
process.stdout.write(JSON.stringify(cost));
await errand.close({ withinMs: 0 });
