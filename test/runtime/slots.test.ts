/**
 * Slots of the process: a child that ends makes room for the next of its tree at once, unless another tree waits for
 * the slot.
 */

import { expect, test } from "vitest";
import { createMemoryStore } from "../../src/stores/memory/memory-store.ts";
import { createSlots, slotWait } from "../../src/runtime/commits/slots.ts";
import { asTreeId } from "../../src/core/values/ids.ts";
import { headRead } from "../../src/core/journal/row.ts";
import { replayVerdict } from "../../src/core/journal/replay.ts";
import { byContext, callTool, callTools, say, type Script, type ScriptedReply } from "../../src/testing/index.ts";
import { openTestErrand } from "../support/test-errand.ts";
import type { Store } from "../../src/index.ts";

const reported = callTool("send_agent_message", { text: "done" });
const reporting = byContext([reported, say("ended")]);

function fanOut(name: string, count: number): ScriptedReply {
  return callTools(
    Array.from({ length: count }, (_, index) => ({ name: "subagent", input: { task: `${name}${index}` } })),
  );
}

test("a fan-out beyond the slots is never offered one, and only its message and its answer wait for the disk", async () => {
  const store = createMemoryStore();
  const waits: boolean[] = [];
  const inputs: string[] = [];
  const counting: Store = {
    ...store,
    commit(commit) {
      waits.push(commit.deferFsync !== true);
      for (const { head } of commit.trees.flatMap(({ rows }) => rows)) inputs.push(headRead(head).input.type);
      return store.commit(commit);
    },
  };
  const parent = byContext([fanOut("part", 20), say("all done")]);
  const { errand } = await openTestErrand({ parent, child: reporting }, { store: counting, slots: 4 });
  const { agent, reply } = await errand.start("go");
  expect((await reply()).text).toBe("all done");
  expect(inputs).toHaveLength(44);
  expect(inputs).not.toContain("slots-offered");
  expect(waits.filter((waited) => waited)).toHaveLength(2);
  expect(replayVerdict(await errand.replay(agent.id))).toBe("proven");
});

test("trees that wait for a slot take turns, however many runs of one of them wait", async () => {
  const order: string[] = [];
  const gates: (() => void)[] = [];
  const { errand } = await openTestErrand(
    {
      parent: (_request, { task, replies }) => (replies === 0 ? fanOut(task, 3) : say("all done")),
      async child(_request, { task, replies }) {
        if (replies > 0) return say("ended");
        order.push(task);
        await new Promise<void>((resolve) => gates.push(resolve));
        return reported;
      },
    },
    { slots: 1 },
  );
  const one = await errand.start("a");
  await until(() => order.length === 1);
  const other = await errand.start("b");
  while ((await errand.listRuns()).length < 6) await tick();
  for (let ended = 0; ended < 6; ended += 1) {
    await until(() => gates.length > ended);
    gates[ended]?.();
  }
  expect((await one.reply()).text).toBe("all done");
  expect((await other.reply()).text).toBe("all done");
  // The first tree began to wait before the other.
  expect(order).toEqual(["a0", "a1", "b0", "a2", "b1", "b2"]);
});

test("of free slots a step is given what is left when each tree that waits got one; fewer than none is owed", () => {
  const slots = createSlots(3);
  const [a, b, c] = ["a", "b", "c"].map(asTreeId) as [never, never, never];
  slots.update(a, 3, "none");
  expect(slots.available(a, false)).toBe(0);
  slots.update(b, 0, "short");
  slots.update(c, 0, "short");
  expect(slots.available(a, false)).toBe(-2);
  expect(slots.available(b, false)).toBe(-1);
  slots.update(a, -1, "none");
  expect(slots.nextOffer()).toBe(b);
  // It is its turn, whoever else waits.
  expect(slots.available(b, true)).toBe(1);
  expect(slots.available(a, false)).toBe(0);
});

test("an offer that is on its way holds its slot, whoever is stepped before it", () => {
  const slots = createSlots(2);
  const [busy, waits] = ["a", "b"].map(asTreeId) as [never, never];
  slots.update(busy, 2, "none");
  slots.update(waits, 0, "short");
  slots.update(busy, -1, "none");
  expect(slots.nextOffer()).toBe(waits);
  expect(slots.nextOffer()).toBeNull();
  expect(slots.available(busy, false)).toBe(0);
  expect(slots.available(waits, true)).toBe(1);
  slots.forget(waits, 0);
  expect(slots.available(busy, false)).toBe(1);
});

test("runs wait for a slot if one of them could have started", () => {
  expect(slotWait(0, false, false)).toBe("none");
  expect(slotWait(2, true, false)).toBe("short");
  expect(slotWait(2, true, true)).toBe("short");
  expect(slotWait(2, false, false)).toBe("unsure");
  expect(slotWait(2, false, true)).toBe("none");
});

/** Delegates so deep; the last one looks and reports. */
const nesting = (deepest: number): Script => {
  return (_request, { replies, task }) => {
    const depth = Number(task);
    if (replies > 1) return say("ended");
    if (replies === 1 || depth === deepest) return reported;
    return callTool("subagent", { task: String(depth + 1) });
  };
};

test("a child that waits for its own child leaves it its slot, however few there are", async () => {
  const parent = byContext([callTool("subagent", { task: "1" }), say("all done")]);
  const { errand } = await openTestErrand({ parent, child: nesting(3) }, { slots: 1, limits: { maxDepth: 3 } });
  const { agent, reply } = await errand.start("go");
  expect((await reply({ timeoutMs: 5_000 })).text).toBe("all done");
  expect((await errand.listRuns()).map(({ status }) => status)).toEqual(["ok", "ok", "ok"]);
  expect(replayVerdict(await errand.replay(agent.id))).toBe("proven");
});

test("a parent that goes on keeps the slot that its child lets go, before other children start", async () => {
  let under = 0;
  let most = 0;
  const middle = callTools([
    { name: "subagent", input: { task: "leaf" } },
    { name: "start_background_agent", input: { task: "leaf" } },
    { name: "start_background_agent", input: { task: "leaf" } },
  ]);
  const parent = byContext([callTool("subagent", { task: "middle" }), say("all done")]);
  const child: Script = async (_request, { task, replies }) => {
    under += 1;
    most = Math.max(most, under);
    for (let turn = 0; turn < 5; turn += 1) await tick();
    under -= 1;
    if (task === "middle") return replies === 0 ? middle : replies === 1 ? reported : say("ended");
    return replies === 0 ? reported : say("ended");
  };
  const { errand } = await openTestErrand({ parent, child }, { slots: 1, limits: { maxDepth: 2 } });
  const { reply } = await errand.start("go");
  expect((await reply({ timeoutMs: 5_000 })).text).toBe("all done");
  expect(most).toBe(1);
});

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await tick();
}

function tick(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}
