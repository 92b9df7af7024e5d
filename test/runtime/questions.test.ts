/** Permissions and parked questions: a call that is left to the user waits for an answer, across anything. */

import { join } from "node:path";
import { expect, test } from "vitest";
import type { Errand, PermissionRule, Tool } from "../../src/index.ts";
import { byContext, callTool, callTools, createMemoryChannel, say } from "../../src/testing/index.ts";
import { eventsUntil, openTestErrand, temporaryFolder } from "../support/test-errand.ts";
import { createTestWorld } from "../support/test-world.ts";

const ASK: readonly PermissionRule[] = [{ decision: "ask", tool: "press" }];

/** A tool that counts how often it was really called, and with what. */
function pressTool(): { readonly tool: Tool; readonly pressed: unknown[] } {
  const pressed: unknown[] = [];
  const tool: Tool = {
    name: "press",
    description: "Presses the button.",
    schema: { type: "object" },
    safe: false,
    async run(input) {
      pressed.push(input);
      return { text: "pressed", failed: false };
    },
  };
  return { tool, pressed };
}

const report = callTool("send_agent_message", { text: "reported" });
const presser = byContext([callTool("press", { floor: 3 }), report, say("done")]);

async function asked(errand: Errand, tree: string, count = 1): Promise<readonly string[]> {
  let seen = 0;
  await eventsUntil(errand, tree, (event) => {
    seen += event.facts.filter((fact) => fact.type === "question-asked").length;
    return seen >= count;
  });
  return (await errand.questions({ tree })).map((question) => question.id);
}

test("a root's call waits for the answer, is told to the user by its channel, and runs once it is allowed", async () => {
  const { tool, pressed } = pressTool();
  const channel = createMemoryChannel();
  const { errand } = await openTestErrand(
    { parent: byContext([callTool("press", { floor: 3 }), say("Up we go.")]) },
    { tools: [tool], permissions: ASK },
  );
  const agent = await errand.openAgent({ channel });
  const reply = agent.postAndAwait("up, please");
  const [message] = await channel.received(1);
  const [question] = await errand.questions();
  expect(question).toMatchObject({ tree: agent.id, agent: agent.id, run: null, tool: "press", input: { floor: 3 } });
  expect(message).toMatchObject({ id: question?.id, text: 'May I use press with {"floor":3}? Answer yes or no.' });
  expect(question?.text).toBe(message?.text);
  expect(pressed).toEqual([]);
  await errand.answer(question?.id ?? "", { allow: true });
  expect((await reply).text).toBe("Up we go.");
  expect(pressed).toEqual([{ floor: 3 }]);
  expect(await errand.questions()).toEqual([]);
  expect((await agent.history()).map(({ from, text }) => `${from}: ${text}`)).toEqual([
    "user: up, please",
    'agent: May I use press with {"floor":3}? Answer yes or no.',
    "user: yes",
    "agent: Up we go.",
  ]);
  expect(await errand.replay(agent.id)).toMatchObject({ difference: null });
});

test("a refused call never runs, and the model reads what the user said about it", async () => {
  const { tool, pressed } = pressTool();
  const { errand, models } = await openTestErrand(
    { parent: byContext([callTool("press", {}), say("Then not.")]) },
    { tools: [tool], permissions: ASK },
  );
  const agent = await errand.openAgent();
  const reply = agent.postAndAwait("up");
  const [question = ""] = await asked(errand, agent.id);
  await errand.answer(question, { allow: false, note: "take the stairs" });
  expect((await reply).text).toBe("Then not.");
  expect(pressed).toEqual([]);
  const last = models.model("scripted/parent").requests.at(-1)?.messages.at(-1);
  expect(last).toMatchObject({
    role: "tool",
    results: [{ failed: true, text: "Error: press: the user does not allow this call and says: take the stairs" }],
  });
  await expect(errand.answer(question, { allow: true })).rejects.toMatchObject({ code: "question-closed" });
  await expect(errand.answer("nonsense", { allow: true })).rejects.toMatchObject({ code: "question-closed" });
  expect(pressed).toEqual([]);
});

test("a denied call is answered at once, and nobody is asked", async () => {
  const { tool, pressed } = pressTool();
  const { errand, models } = await openTestErrand(
    { parent: byContext([callTool("press", {}), say("I cannot.")]) },
    { tools: [tool], permissions: [{ decision: "deny", tool: "press" }] },
  );
  const agent = await errand.openAgent();
  expect((await agent.postAndAwait("up")).text).toBe("I cannot.");
  expect(pressed).toEqual([]);
  const last = models.model("scripted/parent").requests.at(-1)?.messages.at(-1);
  expect(last).toMatchObject({ results: [{ failed: true, text: expect.stringContaining("not permitted") }] });
});

test("a child has the narrower of both permissions, whichever side asks", async () => {
  const allow: readonly PermissionRule[] = [{ decision: "allow", tool: "press" }];
  for (const [parentRules, childRules, asks] of [
    [ASK, allow, 1],
    [allow, ASK, 1],
    [allow, allow, 0],
  ] as const) {
    const { tool } = pressTool();
    const { errand } = await openTestErrand(
      {
        parent: byContext([callTool("subagent", { task: "press it", agent: "worker" }), say("Done.")]),
        child: presser,
      },
      { tools: [tool], parent: { permissions: parentRules }, child: { permissions: childRules } },
    );
    const agent = await errand.openAgent();
    const reply = agent.postAndAwait("go");
    if (asks > 0) {
      const [question = ""] = await asked(errand, agent.id);
      await errand.answer(question, { allow: true });
    }
    expect((await reply).text).toBe("Done.");
    const events = await eventsUntil(errand, agent.id, (event) =>
      event.facts.some((fact) => fact.type === "turn-ended" && fact.agent === 0),
    );
    const count = events.flatMap((event) => event.facts).filter((fact) => fact.type === "question-asked").length;
    expect(count).toBe(asks);
  }
});

test("while a child needs input its clock stands still, and so does that of a parent that waits for nothing else", async () => {
  const { tool } = pressTool();
  const world = createTestWorld();
  const { errand } = await openTestErrand(
    {
      parent: byContext([
        callTool("start_background_agent", { task: "middle", agent: "worker", timeout_seconds: 60 }),
        say("Started."),
        say("Heard."),
      ]),
      child: (_request, { task, replies }) =>
        [
          task === "press it" ? callTool("press", {}) : callTool("subagent", { task: "press it", timeout_seconds: 50 }),
          report,
        ][replies] ?? say("done"),
    },
    { tools: [tool], permissions: ASK, world, limits: { maxDepth: 2 } },
  );
  const agent = await errand.openAgent();
  await agent.post("go");
  await world.rest();
  const states = async (): Promise<readonly string[]> => (await errand.listRuns()).map((run) => run.state);
  expect(await states()).toEqual(["needs_input", "needs_input"]);
  expect((await errand.listRuns()).map((run) => run.deadline)).toEqual([null, null]);
  await world.skip(30 * 86_400_000);
  expect(await states()).toEqual(["needs_input", "needs_input"]);
  const [question] = await errand.questions();
  expect(question).toMatchObject({ run: (await errand.listRuns())[1]?.id, tool: "press" });
  expect(question?.text).toContain('May "press it" use press');
  await errand.answer(question?.id ?? "", { allow: true });
  await world.rest();
  expect((await errand.listRuns()).map(({ state, status }) => [state, status])).toEqual([
    ["ended", "ok"],
    ["ended", "ok"],
  ]);
});

test("calls of one reply are judged each by itself: what is allowed runs, what is asked waits, and the run needs input only then", async () => {
  const { tool, pressed } = pressTool();
  const looked: unknown[] = [];
  const look: Tool = {
    ...tool,
    name: "look",
    run: async (input) => (looked.push(input), { text: "saw", failed: false }),
  };
  const child = byContext([
    callTools([
      { name: "look", input: {} },
      { name: "press", input: { floor: 1 } },
      { name: "press", input: { floor: 2 } },
    ]),
    report,
    say("done"),
  ]);
  const { errand } = await openTestErrand(
    { parent: byContext([callTool("subagent", { task: "both", agent: "worker" }), say("Done.")]), child },
    { tools: [tool, look], permissions: [...ASK, { decision: "allow", tool: "look" }] },
  );
  const agent = await errand.openAgent();
  const reply = agent.postAndAwait("go");
  const questions = await asked(errand, agent.id, 2);
  expect(questions).toHaveLength(2);
  await errand.answer(questions[1] ?? "", { allow: true });
  await errand.answer(questions[0] ?? "", { allow: false });
  expect((await reply).text).toBe("Done.");
  expect([looked, pressed]).toEqual([[{}], [{ floor: 2 }]]);
});

test("a parked question survives a restart and needs no recovery: the next process takes the answer", async () => {
  const { tool, pressed } = pressTool();
  const store = join(temporaryFolder(), "errand.db");
  const scripts = {
    parent: byContext([callTool("subagent", { task: "press it", agent: "worker" }), say("Done.")]),
    child: presser,
  };
  const options = { tools: [tool], permissions: ASK, store };
  const first = (await openTestErrand(scripts, options)).errand;
  const agent = await first.openAgent();
  const { id: post } = await agent.post("go", { id: "0198c0de-0000-7000-8000-000000000001" });
  const [question = ""] = await asked(first, agent.id);
  await first.close({ withinMs: 0 });
  const second = (await openTestErrand(scripts, options)).errand;
  expect(second.recovered).toBe(0);
  expect((await second.questions()).map(({ id }) => id)).toEqual([question]);
  expect((await second.listRuns()).map((run) => run.state)).toEqual(["needs_input"]);
  await second.answer(question, { allow: true });
  const reply = await (await second.agent(agent.id)).postAndAwait("go", { id: post });
  expect(reply.text).toBe("Done.");
  expect(pressed).toEqual([{ floor: 3 }]);
  expect(await second.replay(agent.id)).toMatchObject({ difference: null });
});

test("a question ends with its run: the answer that comes after a cancellation starts nothing", async () => {
  const { tool, pressed } = pressTool();
  const { errand } = await openTestErrand(
    {
      parent: byContext([callTool("subagent", { task: "press it", agent: "worker" }), say("Stopped.")]),
      child: presser,
    },
    { tools: [tool], permissions: ASK },
  );
  const agent = await errand.openAgent();
  const reply = agent.postAndAwait("go");
  const [question = ""] = await asked(errand, agent.id);
  const [run] = await errand.listRuns();
  expect(await errand.cancel(run?.id ?? "")).toBe(true);
  expect((await reply).text).toBe("Stopped.");
  expect(await errand.questions()).toEqual([]);
  await expect(errand.answer(question, { allow: true })).rejects.toMatchObject({ code: "question-closed" });
  expect(pressed).toEqual([]);
});

test("a fork leaves the question behind: the call is told to be interrupted there, and still waits in the origin", async () => {
  const { tool, pressed } = pressTool();
  const { errand } = await openTestErrand(
    { parent: byContext([callTool("press", {}), say("Over.")]) },
    { tools: [tool], permissions: ASK },
  );
  const agent = await errand.openAgent();
  await agent.post("up");
  const [question = ""] = await asked(errand, agent.id);
  const record = (await errand.listTrees()).find((tree) => tree.id === agent.id);
  const fork = await errand.fork(agent.id, { at: (record?.nextSeq ?? 1) - 1 });
  await eventsUntil(errand, fork.id, (event) => event.facts.some((fact) => fact.type === "turn-ended"));
  expect(await errand.questions({ tree: fork.id })).toEqual([]);
  expect((await errand.questions({ tree: agent.id })).map(({ id }) => id)).toEqual([question]);
  expect(pressed).toEqual([]);
});
