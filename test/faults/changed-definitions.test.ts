/** Rule A9: a definition that changed while its child runs binds the child at its next step. */

import { join } from "node:path";
import { expect, test } from "vitest";
import type { AgentOptions, Errand, Tool } from "../../src/index.ts";
import { byContext, callTool, say } from "../../src/testing/index.ts";
import { eventsUntil, openTestErrand, temporaryFolder, turnsEnded } from "../support/test-errand.ts";

const tool = (name: string, run: Tool["run"]): Tool => ({
  name,
  description: `The tool ${name}.`,
  schema: { type: "object" },
  safe: true,
  run,
});

const scripts = {
  parent: byContext([callTool("subagent", { task: "press twice", agent: "worker" }), say("Done.")]),
  child: byContext([
    callTool("press", { floor: 1 }),
    callTool("press", { floor: 2 }),
    callTool("send_agent_message", { text: "reported", final: true }),
  ]),
};

function floors() {
  const pressed: unknown[] = [];
  const press = tool("press", async (input) => (pressed.push(input), { text: "pressed", failed: false }));
  const look = tool("look", async () => ({ text: "saw", failed: false }));
  return { pressed, tools: [press, look] };
}

async function open(store: string, tools: readonly Tool[], agents: Partial<Record<"parent" | "child", object>> = {}) {
  const { parent = {}, child = {} } = agents as { parent?: Partial<AgentOptions>; child?: Partial<AgentOptions> };
  return openTestErrand(scripts, { store, tools, parent, child });
}

/** A child that waits for the result of its first `press` when its process goes away. */
async function leftBehind(store: string): Promise<string> {
  const stuck = tool("press", () => new Promise(() => {}));
  const look = tool("look", async () => ({ text: "saw", failed: false }));
  const { errand } = await open(store, [stuck, look]);
  const agent = await errand.openAgent();
  await agent.post("go");
  await eventsUntil(errand, agent.id, ({ facts }) => facts.some((fact) => fact.type === "tool-called"));
  await errand.close({ withinMs: 0 });
  return agent.id;
}

async function textsOf(errand: Errand, tree: string): Promise<string> {
  const events = await eventsUntil(errand, tree, turnsEnded(1));
  expect(await errand.replay(tree)).toMatchObject({ difference: null, foreign: [] });
  return JSON.stringify(events.flatMap(({ texts }) => texts));
}

test("a tool that its definition lost is not run again, nor called, nor shown to the running child", async () => {
  const store = join(temporaryFolder(), "errand.db");
  const tree = await leftBehind(store);
  const { tools, pressed } = floors();
  const { errand, models } = await open(store, tools, { child: { tools: ["look"] } });
  const texts = await textsOf(errand, tree);
  expect(pressed).toEqual([]);
  expect(texts).toContain("outcome unknown");
  expect(texts).toContain('there is no tool \\"press\\" here');
  const seen = models.requests.filter((request) => request.model === "scripted/child");
  expect(seen.length).toBeGreaterThan(0);
  for (const request of seen) expect(request.tools.map(({ name }) => name)).not.toContain("press");
});

test("a rule that its definition gained binds the running child", async () => {
  const store = join(temporaryFolder(), "errand.db");
  const tree = await leftBehind(store);
  const { tools, pressed } = floors();
  const { errand } = await open(store, tools, { child: { permissions: [{ decision: "deny", tool: "press" }] } });
  expect(await textsOf(errand, tree)).toContain("not permitted here");
  expect(pressed).toEqual([]);
});

test("a tool that its definition gained is the child's only if its parent holds it", async () => {
  const store = join(temporaryFolder(), "errand.db");
  const tree = await leftBehind(store);
  const { tools, pressed } = floors();
  const { errand } = await open(store, tools, { parent: { tools: ["look"] }, child: { tools: ["press", "look"] } });
  expect(await textsOf(errand, tree)).toContain('there is no tool \\"press\\" here');
  expect(pressed).toEqual([]);
});

test("a child whose definition is gone has no ordinary tools, and can still report", async () => {
  const store = join(temporaryFolder(), "errand.db");
  const { tools, pressed } = floors();
  const orchestrator = { prompt: "You are the parent.", model: "scripted/parent" };
  const helper = { prompt: "You are a child.", model: "scripted/child" };
  const told = {
    ...scripts,
    parent: byContext([callTool("subagent", { task: "press twice", agent: "helper" }), say("Done.")]),
  };
  const stuck = [tool("press", () => new Promise(() => {})), ...tools.slice(1)];
  const first = (await openTestErrand(told, { store, tools: stuck, agents: { orchestrator, helper } })).errand;
  const { id: tree } = await first.openAgent();
  await (await first.agent(tree)).post("go");
  await eventsUntil(first, tree, ({ facts }) => facts.some((fact) => fact.type === "tool-called"));
  await first.close({ withinMs: 0 });
  const { errand } = await openTestErrand(told, { store, tools, agents: { orchestrator } });
  const texts = await textsOf(errand, tree);
  expect(texts).toContain("reported");
  expect(texts).toContain('there is no tool \\"press\\" here');
  expect(pressed).toEqual([]);
});

test("fewer iterations bind the running child; a definition that is back gives its rights back", async () => {
  const store = join(temporaryFolder(), "errand.db");
  const tree = await leftBehind(store);
  const { tools, pressed } = floors();
  const narrow = await open(store, [tool("press", () => new Promise(() => {})), ...tools.slice(1)], {
    child: { permissions: [{ decision: "ask", tool: "press" }] },
  });
  await eventsUntil(narrow.errand, tree, ({ facts }) => facts.some((fact) => fact.type === "question-asked"));
  await narrow.errand.close({ withinMs: 0 });
  const { errand } = await open(store, tools, { child: { maxIterations: 2 } });
  for (const { id } of await errand.questions({ tree })) await errand.answer(id, { allow: true });
  const events = await eventsUntil(errand, tree, turnsEnded(1));
  const [ended] = events.flatMap(({ facts }) => facts.filter((fact) => fact.type === "run-ended"));
  expect(ended).toMatchObject({ status: "error", reason: "iteration-limit" });
  expect(await errand.replay(tree)).toMatchObject({ difference: null, foreign: [] });
  expect(pressed).toEqual([{ floor: 2 }]);
});

test("a tool that its definition lost is not called by a child whose root was closed", async () => {
  const store = join(temporaryFolder(), "errand.db");
  const told = {
    ...scripts,
    parent: byContext([callTool("start_background_agent", { task: "press twice", agent: "worker" }), say("Started.")]),
  };
  const { tools, pressed } = floors();
  const stuck = [tool("press", () => new Promise(() => {})), ...tools.slice(1)];
  const first = (await openTestErrand(told, { store, tools: stuck })).errand;
  const agent = await first.openAgent();
  await agent.postAndAwait("go");
  await eventsUntil(first, agent.id, ({ facts }) => facts.some((fact) => fact.type === "tool-called"));
  await agent.close();
  await first.close({ withinMs: 0 });
  const { errand } = await openTestErrand(told, { store, tools: tools.slice(1), child: { tools: ["look"] } });
  const ended = ({ facts }: { facts: readonly { type: string }[] }) => facts.some(({ type }) => type === "run-ended");
  const events = await eventsUntil(errand, agent.id, ended);
  expect(JSON.stringify(events.flatMap(({ texts }) => texts))).toContain('there is no tool \\"press\\" here');
  expect(await errand.replay(agent.id)).toMatchObject({ difference: null, foreign: [] });
  expect(pressed).toEqual([]);
});
