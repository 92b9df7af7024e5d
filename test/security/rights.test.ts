/**
 * Rule A9: at every step an agent may do only what both its recorded definition and the executing process allow.
 */

import { createHash } from "node:crypto";
import { join } from "node:path";
import { expect, test } from "vitest";
import { asPostId, asStepKey, asTreeId } from "../../src/core/values/ids.ts";
import type { Errand, ErrandOptions, PermissionRule, Tool } from "../../src/index.ts";
import { mailOf } from "../../src/runtime/messages/mail.ts";
import { openStoreAt } from "../../src/runtime/create-runtime.ts";
import { byContext, callTool, type Script, say } from "../../src/testing/index.ts";
import { eventsUntil, openTestErrand, temporaryFolder, turnsEnded } from "../support/test-errand.ts";

const sha256 = (text: string): string => createHash("sha256").update(text).digest("base64url");
const ALLOW: readonly PermissionRule[] = [{ decision: "allow", tool: "press" }];
const ASK: readonly PermissionRule[] = [{ decision: "ask", tool: "press" }];
const DENY: readonly PermissionRule[] = [{ decision: "deny", tool: "press" }];

function buttons(names: readonly string[] = ["press"]): {
  readonly tools: readonly Tool[];
  readonly pressed: unknown[];
} {
  const pressed: unknown[] = [];
  const tools = names.map((name) => ({
    name,
    description: "Presses the button.",
    schema: { type: "object" },
    safe: false,
    run: async (input: unknown) => (pressed.push(input), { text: "pressed", failed: false }),
  }));
  return { tools, pressed };
}

const pressing = byContext([
  callTool("press", { floor: 1 }),
  say("First."),
  callTool("press", { floor: 2 }),
  say("Second."),
]);

/** A process with its own rights that executes trees of a shared store. */
async function openProcess(
  store: string,
  script: Script,
  options: Partial<ErrandOptions>,
  child: Script = [],
): Promise<Errand> {
  const { errand } = await openTestErrand({ parent: script, child }, { store, renewDefinitions: false, ...options });
  return errand;
}

async function questioned(errand: Errand, tree: string): Promise<string> {
  await eventsUntil(errand, tree, (event) => event.facts.some((fact) => fact.type === "question-asked"));
  return (await errand.questions({ tree })).at(-1)?.id ?? "";
}

/** Waits until this many questions were asked. */
async function asked(errand: Errand, tree: string, count: number): Promise<void> {
  let seen = 0;
  await eventsUntil(errand, tree, ({ facts }) => {
    seen += facts.filter((fact) => fact.type === "question-asked").length;
    return seen >= count;
  });
}

async function results(errand: Errand, tree: string): Promise<readonly string[]> {
  const facts = (await eventsUntil(errand, tree, turnsEnded(1))).flatMap((event) => event.texts);
  return facts.filter((text) => typeof text === "string");
}

test("the next process asks about a call that one process allowed: `allow` ends with its process", async () => {
  const store = join(temporaryFolder(), "errand.db");
  const { tools, pressed } = buttons();
  const first = await openProcess(store, pressing, { tools, permissions: ALLOW });
  const agent = await first.openAgent();
  await agent.postAndAwait("go");
  expect(pressed).toEqual([{ floor: 1 }]);
  await first.close();
  const second = await openProcess(store, pressing, { tools, permissions: [] });
  await (await second.agent(agent.id)).post("again");
  const question = await questioned(second, agent.id);
  expect(pressed).toEqual([{ floor: 1 }]);
  await second.answer(question, { allow: true });
  await eventsUntil(second, agent.id, turnsEnded(2));
  expect(pressed).toEqual([{ floor: 1 }, { floor: 2 }]);
  expect(await second.replay(agent.id)).toMatchObject({ difference: null, foreign: [] });
});

test("a new deny applies to an old conversation, and ends with its process", async () => {
  const store = join(temporaryFolder(), "errand.db");
  const { tools, pressed } = buttons();
  const script = byContext([
    callTool("press", { floor: 1 }),
    say("a"),
    callTool("press", { floor: 2 }),
    say("b"),
    callTool("press", { floor: 3 }),
    say("c"),
  ]);
  const rights = [ALLOW, DENY, ALLOW];
  let tree = "";
  for (const [index, permissions] of rights.entries()) {
    const errand = await openProcess(store, script, { tools, permissions });
    const agent = index === 0 ? await errand.openAgent() : await errand.agent(tree);
    tree = agent.id;
    await agent.postAndAwait("go");
    expect(await errand.replay(tree)).toMatchObject({ difference: null, foreign: [] });
    await errand.close();
  }
  expect(pressed).toEqual([{ floor: 1 }, { floor: 3 }]);
});

test("rights are recorded only when they differ", async () => {
  const store = join(temporaryFolder(), "errand.db");
  const { tools } = buttons();
  const script = byContext([say("a"), say("b"), say("c"), say("d")]);
  let tree = "";
  for (const permissions of [ALLOW, ALLOW, DENY, DENY]) {
    const errand = await openProcess(store, script, { tools, permissions });
    const agent = tree === "" ? await errand.openAgent() : await errand.agent(tree);
    tree = agent.id;
    await agent.postAndAwait("go");
    await errand.close();
  }
  const errand = await openProcess(store, script, { tools, permissions: DENY });
  const inputs = (await eventsUntil(errand, tree, turnsEnded(4))).map(({ facts: [input] }) => input?.type);
  expect(inputs.filter((type) => type === "rights-changed")).toHaveLength(1);
  expect(inputs.indexOf("rights-changed")).toBe(5);
});

test("an earlier yes in the mail is judged by the process that takes it", async () => {
  const store = join(temporaryFolder(), "errand.db");
  const { tools, pressed } = buttons();
  const first = await openProcess(store, pressing, { tools, permissions: ASK });
  const agent = await first.openAgent();
  await agent.post("go");
  const question = await questioned(first, agent.id);
  await first.close({ withinMs: 0 });
  const file = await openStoreAt(store, "read");
  const key = asStepKey(question.slice(question.indexOf("/") + 1));
  const id = asPostId("0198c0de-0000-7000-8000-0000000000aa");
  await file.putMail(
    mailOf(asTreeId(agent.id), { type: "answer-given", id, question: key, allow: true }, [""], sha256),
  );
  await file.close();
  const second = await openProcess(store, pressing, { tools, permissions: DENY });
  await eventsUntil(second, agent.id, turnsEnded(1));
  expect(pressed).toEqual([]);
  expect(await results(second, agent.id)).toContainEqual(expect.stringContaining("not permitted here"));
  expect(await second.replay(agent.id)).toMatchObject({ difference: null, foreign: [] });
});

test("an answer satisfies the `ask` of any process", async () => {
  const store = join(temporaryFolder(), "errand.db");
  const { tools, pressed } = buttons();
  const first = await openProcess(store, pressing, { tools, permissions: ASK });
  const agent = await first.openAgent();
  await agent.post("go");
  const question = await questioned(first, agent.id);
  await first.close({ withinMs: 0 });
  const second = await openProcess(store, pressing, { tools, permissions: [{ decision: "ask", tool: "*" }] });
  await second.answer(question, { allow: true });
  await eventsUntil(second, agent.id, turnsEnded(1));
  expect(pressed).toEqual([{ floor: 1 }]);
});

test("a child's calls are judged by the executing process, too", async () => {
  const store = join(temporaryFolder(), "errand.db");
  const { tools, pressed } = buttons();
  const parent = byContext([callTool("subagent", { task: "press", agent: "worker" }), say("Done.")]);
  const child = byContext([
    callTool("press", { floor: 1 }),
    callTool("press", { floor: 2 }),
    callTool("send_agent_message", { text: "reported", final: true }),
  ]);
  const first = await openProcess(store, parent, { tools, permissions: ASK }, child);
  const agent = await first.openAgent();
  await agent.post("go");
  const question = await questioned(first, agent.id);
  await first.close({ withinMs: 0 });
  const second = await openProcess(store, parent, { tools, permissions: DENY }, child);
  await second.answer(question, { allow: true });
  await eventsUntil(second, agent.id, turnsEnded(1));
  expect(pressed).toEqual([]);
});

const knocking = {
  parent: byContext([callTool("subagent", { task: "press", agent: "worker" }), say("Done.")]),
  child: byContext([
    callTool("knock", { door: 1 }),
    callTool("press", { floor: 1 }),
    callTool("knock", { door: 2 }),
    callTool("press", { floor: 2 }),
    callTool("send_agent_message", { text: "reported", final: true }),
  ]),
  permissions: [
    { decision: "ask", tool: "knock" },
    { decision: "allow", tool: "press" },
  ] satisfies readonly PermissionRule[],
};

test("a process with definitions without a tool does not remove the tool permanently", async () => {
  const store = join(temporaryFolder(), "errand.db");
  const both = buttons(["press", "knock"]);
  const knock = both.tools.filter((tool) => tool.name === "knock");
  const { parent, child, permissions } = knocking;
  let tree = "";
  // Each process answers the question that the one before left open; the second has no definition with `press`.
  for (const [index, tools] of [both.tools, knock, both.tools].entries()) {
    const errand = await openProcess(store, parent, { tools, permissions, renewDefinitions: true }, child);
    const agent = index === 0 ? await errand.openAgent() : await errand.agent(tree);
    tree = agent.id;
    if (index === 0) await agent.post("go");
    else for (const { id } of await errand.questions({ tree })) await errand.answer(id, { allow: true });
    if (index < 2) await asked(errand, tree, index + 1);
    else await eventsUntil(errand, tree, turnsEnded(1));
    if (index === 2) expect(await errand.replay(tree)).toMatchObject({ difference: null, foreign: [] });
    await errand.close();
  }
  expect(both.pressed).toEqual([{ door: 1 }, { door: 2 }, { floor: 2 }]);
});

test("a process without a tool of the recorded definitions does not run the tree", async () => {
  const store = join(temporaryFolder(), "errand.db");
  const both = buttons(["press", "knock"]);
  const knock = both.tools.filter((tool) => tool.name === "knock");
  const { parent, child, permissions } = knocking;
  const first = await openProcess(store, parent, { tools: both.tools, permissions }, child);
  const { id: tree } = await first.openAgent();
  await (await first.agent(tree)).post("go");
  const question = await questioned(first, tree);
  await first.close();
  const second = await openProcess(store, parent, { tools: knock, permissions, onNotice: () => {} }, child);
  await expect(second.answer(question, { allow: true })).rejects.toMatchObject({ code: "tree-unplaced" });
  await second.close();
  const third = await openProcess(store, parent, { tools: both.tools, permissions }, child);
  await third.answer(question, { allow: true });
  await asked(third, tree, 2);
  for (const { id } of await third.questions({ tree })) await third.answer(id, { allow: true });
  await eventsUntil(third, tree, turnsEnded(1));
  expect(await third.replay(tree)).toMatchObject({ difference: null, foreign: [] });
  expect(both.pressed).toEqual([{ door: 1 }, { floor: 1 }, { door: 2 }, { floor: 2 }]);
});

test.each([
  ["denies", DENY, "not permitted here"],
  ["asks", ASK, "asks the user first"],
])("a tool that was under way is not run again by a process that %s", async (_how, permissions, told) => {
  const store = join(temporaryFolder(), "errand.db");
  const runs: string[] = [];
  const tool = (name: string, run: Tool["run"]): Tool => ({
    name: "press",
    description: "Presses the button.",
    schema: { type: "object" },
    safe: true,
    run: (...given) => (runs.push(name), run(...given)),
  });
  const first = await openProcess(store, pressing, {
    tools: [tool("first", () => new Promise(() => {}))],
    permissions: ALLOW,
  });
  const agent = await first.openAgent();
  await agent.post("go");
  await eventsUntil(first, agent.id, ({ facts }) => facts.some((fact) => fact.type === "tool-called"));
  await first.close({ withinMs: 0 });
  const second = await openProcess(store, pressing, {
    tools: [tool("second", async () => ({ text: "pressed", failed: false }))],
    permissions,
  });
  expect(await results(second, agent.id)).toContainEqual(expect.stringContaining(told));
  expect(runs).toEqual(["first"]);
  expect(await second.replay(agent.id)).toMatchObject({ difference: null, foreign: [] });
});

test("an answer from outside cannot contain a judgement", async () => {
  const { tools, pressed } = buttons();
  const { errand } = await openTestErrand({ parent: pressing }, { tools, permissions: ASK });
  const agent = await errand.openAgent();
  await agent.post("go");
  const question = await questioned(errand, agent.id);
  await errand.answer(question, { allow: true });
  const [answered] = (await eventsUntil(errand, agent.id, turnsEnded(1))).flatMap(({ facts }) =>
    facts.filter((fact) => fact.type === "answer-given"),
  );
  expect(Object.keys(answered ?? {})).toEqual(["type", "id", "question", "allow"]);
  expect(pressed).toEqual([{ floor: 1 }]);
});
