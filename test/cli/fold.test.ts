/** The readable model, folded from real events, against the store's records of the same tree. */

import { expect, test } from "vitest";
import { createJsonDisplay, jsonLine } from "../../src/cli/display/jsonl.ts";
import { changeLines } from "../../src/cli/display/plain.ts";
import { placedEvents } from "../../src/view/readable-event.ts";
import { foldEvent } from "../../src/view/fold-event.ts";
import { createTreeModel, treeAtRest, treeTotals } from "../../src/view/tree-model.ts";
import type { ReadableEvent } from "../../src/view/readable-event.ts";
import { createErrand, type ModelProvider, type TreeEvent } from "../../src/index.ts";
import { createRehearsalModel } from "../../src/cli/rehearsal/rehearsal.ts";
import { totalsLine } from "../../src/cli/display/tree-lines.ts";
import { byContext, hang, say } from "../../src/testing/index.ts";
import { startCall, startRuns } from "../support/scripted-replies.ts";
import { eventsNow } from "../support/tree-facts.ts";
import { openTestErrand } from "../support/test-errand.ts";
import { createTestWorld } from "../support/test-world.ts";
import { projectFolder } from "./support/errand-process.ts";

const priced: ModelProvider = {
  resolve: () => ({
    model: createRehearsalModel(),
    facts: { window: 200_000, price: { input: 3_000_000, output: 15_000_000, cachedInput: 0 } },
  }),
};

async function eventsOfTask(task: string) {
  const { folder, remove } = projectFolder();
  const errand = await createErrand({ store: "memory", workspace: folder, models: [priced], model: "test/priced" });
  try {
    const agent = await errand.openAgent();
    await agent.post(task);
    const events: TreeEvent[] = [];
    const model = createTreeModel();
    const changes: ReadableEvent[][] = [];
    const rests: boolean[] = [];
    for await (const event of errand.journal(agent.id)) {
      events.push(event);
      changes.push(foldEvent(model, event));
      rests.push(treeAtRest(model));
      if (treeAtRest(model)) break;
    }
    return { model, changes, rests, events, runs: await errand.listRuns({ tree: agent.id }) };
  } finally {
    await errand.close();
    remove();
  }
}

test("names, states, times, tokens and cost are those of the store", async () => {
  const { model, runs } = await eventsOfTask("what opens the store?");
  expect(runs.length).toBeGreaterThan(1);
  for (const run of runs) {
    const agent = model.agents.get(run.number);
    expect({ ...agent, ...agent?.run }).toMatchObject({
      id: run.id,
      name: run.name,
      definition: run.definition,
      state: run.state,
      status: run.status,
      startedAt: run.startedAt,
      endedAt: run.endedAt,
      tokens: run.tokens,
      cost: run.cost,
    });
  }
  expect(treeTotals(model, model.at)).toMatchObject({ runs: runs.length, ok: runs.length, open: 0 });
  expect(model.effects.size).toBe(0);
});

test("abandoned calls count as an estimate, marked with ~, until their real usage is known; then as in the store", async () => {
  const world = createTestWorld();
  const { errand } = await openTestErrand(
    {
      parent: byContext([startRuns(startCall("wait")), say("started", { usage: { input: 10, output: 1 } })]),
      child: () => hang("", { input: 70, output: 3 }),
    },
    { world, facts: { "scripted/child": { price: { input: 1_000_000, output: 2_000_000, cachedInput: 0 } } } },
  );
  const agent = await errand.openAgent();
  await agent.post("go");
  await world.rest();
  const [run] = await errand.listRuns();
  await errand.cancel(run?.id ?? "");
  await world.rest();
  const model = createTreeModel();
  const lines: string[] = [];
  for (const event of await eventsNow(errand, agent.id)) {
    foldEvent(model, event);
    if (event.facts.some(({ type }) => type === "run-ended" || type === "usage-learnt"))
      lines.push(totalsLine(model, model.at));
  }
  expect(lines[0]).toMatch(/ · ~\d.* tokens · ~\$/);
  expect(lines[1]).not.toContain("~");
  const [ended] = await errand.listRuns();
  expect(model.agents.get(1)).toMatchObject({ tokens: 73, cost: 76, estimated: 0 });
  expect(ended).toMatchObject({ tokens: 73, cost: 76 });
});

test("D13: the tree is idle only after the turn about the announcement", async () => {
  const { rests, events } = await eventsOfTask("what opens the store?");
  expect(rests.filter(Boolean)).toHaveLength(1);
  expect(rests.at(-1)).toBe(true);
  const announced = events.findIndex((event) => event.facts.some((fact) => fact.type === "announcement-queued"));
  expect(announced).toBeGreaterThan(0);
  expect(announced).toBeLessThan(events.length - 1);
});

test("the same events give the same changes; a rejected one gives none", async () => {
  const { changes, events } = await eventsOfTask("what opens the store?");
  const again = createTreeModel();
  expect(events.map((event) => foldEvent(again, event))).toEqual(changes);
  const before = structuredClone(again);
  const [first] = events;
  if (first !== undefined) expect(foldEvent(again, { ...first, rejected: "no such effect is open" })).toEqual([]);
  expect(again).toEqual(before);
});

test("each change of state is a plain line; a run that starts at once is not shown as queued", async () => {
  const { changes } = await eventsOfTask("what opens the store?");
  const lines = changes.flatMap(changeLines);
  expect(lines[0]).toMatch(/^orchestrator opened, tree /);
  expect(lines.filter((line) => line.endsWith("started"))).toHaveLength(2);
  expect(lines.filter((line) => line.includes("ended: ok"))).toHaveLength(2);
  expect(lines.join("\n")).not.toContain("queued");
});

test("a line of JSON contains no control character, and parsing it returns the same values", () => {
  const text = "a\u001b[2J\u009b1A\u007f\u2028\nb";
  const line = jsonLine({ type: "answer", text });
  // oxlint-disable-next-line no-control-regex
  expect(line.slice(0, -1)).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028]/);
  expect(JSON.parse(line)).toEqual({ v: 1, type: "answer", text });
});

test("every change is a line of JSON that begins with its version and type", async () => {
  const { changes, model } = await eventsOfTask("what opens the store?");
  let out = "";
  const host = { out: (text: string) => (out += text) };
  const display = createJsonDisplay(host);
  for (const [seq, some] of changes.entries()) display.changed(model, placedEvents(seq, some), () => 0);
  const lines = out.trimEnd().split("\n");
  // A message is a line of its own once the channel has delivered it.
  expect(lines).toHaveLength(changes.flat().filter(({ type }) => type !== "message").length);
  for (const line of lines) expect(line).toMatch(/^\{"v":1,"type":"[a-z-]+","at":\d+,/);
});
