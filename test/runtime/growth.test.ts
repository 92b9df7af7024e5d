import { expect, test } from "vitest";
import type { Agent, Model, ModelReply } from "../../src/index.ts";
import { createErrand } from "../../src/index.ts";
import { lookTool } from "../support/test-errand.ts";

const usage = { input: 10, output: 5 };
const calls = (id: string, name: string, input: { [key: string]: string }): ModelReply => ({
  parts: [{ type: "tool-call", id, name, input }],
  usage,
  stop: "tools",
});
const says = (text: string): ModelReply => ({ parts: [{ type: "text", text }], usage, stop: "end" });

const parent: Model = {
  async call({ messages }) {
    const last = messages.at(-1);
    return last?.role === "user" ? calls(`c${messages.length}`, "subagent", { task: "look at it" }) : says("done");
  },
};
const child: Model = {
  async call({ messages }) {
    if (messages.length === 1) return calls("c1", "look", {});
    return messages.length === 3 ? calls("c2", "send_agent_message", { text: "found" }) : says("ok");
  },
};

/** Processor time of this thread in microseconds: others on the machine make it wait, not work. */
function worked(): number {
  const { user, system } = process.threadCpuUsage();
  return user + system;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

const COUNT = 10_000;
const STRETCH = 20;

function open(): ReturnType<typeof createErrand> {
  return createErrand({
    store: "memory",
    models: [
      { resolve: (name) => ({ model: name === "x/parent" ? parent : child, facts: { window: null, price: null } }) },
    ],
    tools: [lookTool()],
    agents: {
      orchestrator: { prompt: "You delegate.", model: "x/parent" },
      worker: { prompt: "You work.", model: "x/child" },
      researcher: { prompt: "You search.", model: "x/child" },
    },
    limits: { runsPerTree: COUNT + 1_000 },
  });
}

async function delegate(agent: Agent, times: number): Promise<number> {
  const begun = worked();
  for (let one = 0; one < times; one += 1) await agent.postAndAwait("go");
  return worked() - begun;
}

test("a step's cost does not grow with the history: of 10,000 delegations the last tenth takes at most 1.3 times the first", async () => {
  const old = await open();
  const long = await old.openAgent();
  await delegate(long, COUNT * 0.9);
  const young = await open();
  const short = await young.openAgent();
  const ratios: number[] = [];
  // Pairs, one right after the other: whatever slows the machine for a while slows both, and a moment's luck is one
  // pair of many.
  for (let done = 0; done < COUNT / 10; done += STRETCH) {
    const last = await delegate(long, STRETCH);
    ratios.push(last / (await delegate(short, STRETCH)));
  }
  await old.close();
  await young.close();
  expect(median(ratios)).toBeLessThan(1.3);
}, 120_000);

test("the texts of a run are erased also when its tree had 10,000 runs before it", async () => {
  const errand = await open();
  const agent = await errand.openAgent();
  await delegate(agent, COUNT + 1);
  const run = await agent.spawn({ task: "look at it", cleanup: "delete" });
  for await (const { facts } of errand.journal(agent.id, { after: run.createdSeq })) {
    const erased = facts.find((fact) => fact.type === "texts-erased");
    if (erased === undefined) continue;
    expect(erased).not.toMatchObject({ rows: [] });
    break;
  }
  await errand.close();
}, 120_000);
