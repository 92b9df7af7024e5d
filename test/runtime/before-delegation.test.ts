/** `beforeDelegation`: the program may refuse or rewrite a delegation before it is made. */

import { join } from "node:path";
import { expect, test } from "vitest";
import type { DelegationCall, DelegationDecision, Errand } from "../../src/index.ts";
import { byContext, callTool, say } from "../../src/testing/index.ts";
import { childRequests, parentRequests, requestJson, toolJson, toolText } from "../support/model-requests.ts";
import { callSubagent, report, startSeveral } from "../support/scripted-replies.ts";
import { openTestErrand, temporaryFolder } from "../support/test-errand.ts";
import { createTestWorld } from "../support/test-world.ts";

const child = byContext([report("found", { final: true })]);

async function proven(errand: Errand, tree: string): Promise<boolean> {
  return (await errand.replay(tree)).difference === null;
}

test("the hook sees what is delegated by models and by the program, and where", async () => {
  const calls: DelegationCall[] = [];
  const { errand } = await openTestErrand(
    {
      parent: byContext([
        callSubagent("outer", { context: "facts" }),
        callTool("start_background_agent", { task: "wide", agent: "researcher" }),
        say("x"),
        say("y"),
      ]),
      child: (_request, { task, replies }) =>
        task.startsWith("outer") && replies === 0 ? callSubagent("inner") : report("found", { final: true }),
    },
    { beforeDelegation: (call) => void calls.push(call) },
  );
  const agent = await errand.openAgent({ data: { user: 1 } });
  await agent.ask("go");
  await (await agent.spawn({ task: "mine" })).outcome();
  const [first] = await errand.listRuns();
  const tree = { tree: agent.id, data: { user: 1 } };
  const below = { ...tree, parent: agent.id, depth: 1 };
  expect(calls).toEqual([
    { ...below, tool: "subagent", task: "outer", agent: "worker", context: "facts" },
    { ...tree, parent: first?.agent, depth: 2, tool: "subagent", task: "inner", agent: "worker", context: null },
    { ...below, tool: "start_background_agent", task: "wide", agent: "researcher", context: null },
    { ...below, tool: "spawn", task: "mine", agent: "worker", context: null },
  ]);
});

test("a refusal is the result of the model's call: rules F5 and D1, reason refused", async () => {
  const { errand, models } = await openTestErrand(
    {
      parent: byContext([callSubagent("a"), callTool("start_background_agent", { task: "b" }), say("ok")]),
      child,
    },
    { beforeDelegation: async ({ task }) => ({ refuse: `not ${task} today` }) },
  );
  const records: unknown[] = [];
  errand.onDelegation(({ status, reason, error }) => records.push({ status, reason, error }));
  const { tree, runs } = await errand.run("go");
  expect(runs).toEqual([]);
  expect(toolJson(parentRequests(models)[1])).toMatchObject({
    success: false,
    reason: "refused",
    error: "not a today",
    run_id: null,
  });
  expect(toolJson(parentRequests(models)[2])).toEqual({ status: "refused", reason: "refused", error: "not b today" });
  expect(await proven(errand, tree)).toBe(true);
  await errand.close();
  expect(records).toEqual([
    { status: "refused", reason: "refused", error: "not a today" },
    { status: "refused", reason: "refused", error: "not b today" },
  ]);
});

test("a rewritten task is what the child, the parent's context and the journal hold; the asked one stands beside it", async () => {
  const { errand, models } = await openTestErrand(
    { parent: byContext([callSubagent("delete everything", { context: "c" }), say("ok")]), child },
    { beforeDelegation: ({ task }) => ({ task: `Only look: ${task}` }) },
  );
  const { tree, runs } = await errand.run("go");
  expect(runs.map(({ name }) => name)).toEqual(["Only look: delete everything"]);
  expect(requestJson(childRequests(models)[0])).toContain("Only look: delete everything");
  expect(requestJson(parentRequests(models)[1])).toContain('"task":"Only look: delete everything","context":"c"');
  const recorded: unknown[] = [];
  for await (const { facts, texts } of errand.journal(tree)) {
    const [input] = facts;
    if (input?.type === "model-replied" && input.facts !== undefined)
      recorded.push(Object.values(input.facts).map(({ rewritten }) => texts[rewritten ?? -1]));
    if (facts.some(({ type }) => type === "run-ended")) break;
  }
  expect(recorded).toEqual([[{ task: "delete everything", context: "c" }]]);
  expect(await proven(errand, tree)).toBe(true);
});

test("a spawn of the program is refused or rewritten, once for its id, also in a later process", async () => {
  const store = join(temporaryFolder(), "errand.db");
  let asked = 0;
  const beforeDelegation = ({ task }: DelegationCall): DelegationDecision => {
    asked += 1;
    return task === "bad" ? { refuse: "not this" } : { task: `${task} ${asked}` };
  };
  const id = "0197a000-0000-7000-8000-000000000001";
  const first = await openTestErrand({ parent: [], child }, { store, beforeDelegation });
  const agent = await first.errand.openAgent({ key: "k" });
  const run = await agent.spawn({ id, task: "look", announce: "none" });
  expect(run.name).toBe("look 1");
  await run.outcome();
  expect((await agent.spawn({ id, task: "look", announce: "none" })).id).toBe(run.id);
  await expect(agent.spawn({ task: "bad" })).rejects.toThrow("not this");
  expect(asked).toBe(2);
  await first.errand.close();
  const second = await openTestErrand({ parent: [], child }, { store, beforeDelegation });
  const later = await second.errand.openAgent({ key: "k" });
  expect((await later.spawn({ id, task: "look", announce: "none" })).id).toBe(run.id);
  await expect(later.spawn({ id, task: "other", announce: "none" })).rejects.toMatchObject({ code: "id-reused" });
  expect(asked).toBe(2);
  expect(await proven(second.errand, agent.id)).toBe(true);
});

test("a typed task is a delegation too: rewritten with its key kept, and a refusal is the task's end", async () => {
  const typed = byContext([callTool("send_agent_message", { text: "x", data: { n: 1 }, final: true })]);
  const depths: number[] = [];
  const { errand } = await openTestErrand(
    { parent: [], child: typed },
    {
      beforeDelegation: ({ task, depth, data }) => {
        depths.push(depth);
        return data === "no" ? { refuse: "not for you" } : { task: `${task}!` };
      },
    },
  );
  const output = { type: "object" } as const;
  const one = await errand.run("count", { output, key: "k" });
  expect(one.runs.map(({ name }) => name)).toEqual(["count!"]);
  expect(await errand.run("count", { output, key: "k" })).toEqual(one);
  const refused = { output, key: "other", data: "no" };
  await expect(errand.run("count", refused)).rejects.toThrow("not for you");
  await expect(errand.run("count", refused)).rejects.toThrow("not for you");
  expect(depths).toEqual([0, 0]);
});

test.each<[string, () => unknown, string]>([
  [
    "throws",
    () => {
      throw new Error("policy server is down");
    },
    "policy server is down",
  ],
  ["rejects", () => Promise.reject(new Error("policy server is down")), "policy server is down"],
  ["gives true", () => true, "gave no decision"],
  ["gives an empty task", () => ({ task: " " }), "gave no decision"],
  ["gives a task that is too long", () => ({ task: "x".repeat(2_000_000) }), "gave a task"],
  ["refuses without a word", () => ({ refuse: "" }), "refuses this delegation"],
])("a hook that %s refuses, and breaks nothing", async (_what, hook, why) => {
  const { errand, models } = await openTestErrand(
    { parent: byContext([callSubagent("x"), say("done")]), child },
    { beforeDelegation: hook as () => undefined },
  );
  const { text, runs, tree } = await errand.run("go");
  expect(text).toBe("done");
  expect(runs).toEqual([]);
  expect(toolText(parentRequests(models)[1])).toContain(why);
  expect(await proven(errand, tree)).toBe(true);
});

test("a hook has 5 s: then the delegation is refused, and a later answer changes nothing", async () => {
  const world = createTestWorld();
  const late = Promise.withResolvers<undefined>();
  const { errand, models } = await openTestErrand(
    { parent: byContext([startSeveral(["a", "b"]), say("done")]), child },
    { world, beforeDelegation: () => late.promise },
  );
  const agent = await errand.openAgent();
  const reply = agent.postAndAwait("go");
  await world.advance(4_999);
  expect(parentRequests(models)).toHaveLength(1);
  await world.advance(2);
  expect((await reply).text).toBe("done");
  expect(toolText(parentRequests(models)[1])).toContain("did not answer within 5 s");
  late.resolve(undefined);
  expect(await errand.listRuns()).toEqual([]);
});

test("a delegation that is refused without the hook does not reach it", async () => {
  let asked = 0;
  const { errand } = await openTestErrand(
    {
      parent: byContext([
        callTool("subagent", {}),
        callTool("subagent", { task: " " }),
        callTool("start_background_agent", { task: "x", model: "nowhere/none" }),
        callTool("list_runs", {}),
        say("done"),
      ]),
    },
    { beforeDelegation: () => void (asked += 1) },
  );
  await errand.run("go");
  expect(asked).toBe(0);
});

test("replay asks no hook, and what a hook changes in its call reaches nothing", async () => {
  const store = join(temporaryFolder(), "errand.db");
  const first = await openTestErrand(
    { parent: byContext([callSubagent("x"), say("done")]), child },
    {
      store,
      beforeDelegation: (call) => {
        Object.assign(call, { task: "changed" });
        (call.data as { user: string }).user = "changed";
      },
    },
  );
  const { tree, runs } = await first.errand.run("go", { data: { user: "me" } });
  expect(runs.map(({ name }) => name)).toEqual(["x"]);
  await first.errand.close();
  let asked = 0;
  const second = await openTestErrand({ parent: [] }, { store, beforeDelegation: () => void (asked += 1) });
  expect(await proven(second.errand, tree)).toBe(true);
  expect(asked).toBe(0);
});

test("a crash while the hook decides leaves nothing half-made: the next process asks again", async () => {
  const store = join(temporaryFolder(), "errand.db");
  const parent = byContext([callSubagent("x"), say("done")]);
  const asked = Promise.withResolvers<undefined>();
  const first = await openTestErrand(
    { parent, child },
    {
      store,
      async beforeDelegation() {
        asked.resolve(undefined);
        await new Promise(() => undefined);
      },
    },
  );
  void first.errand.run("go", { key: "k" }).catch(() => undefined);
  await asked.promise;
  await first.errand.close({ withinMs: 0 });
  const second = await openTestErrand({ parent, child }, { store, beforeDelegation: () => ({ task: "y" }) });
  const { runs, tree } = await second.errand.run("go", { key: "k" });
  expect(runs.map(({ name }) => name)).toEqual(["y"]);
  expect(await proven(second.errand, tree)).toBe(true);
});

test("an isolated skill is a delegation too", async () => {
  const calls: DelegationCall[] = [];
  const { errand, models } = await openTestErrand(
    {
      parent: byContext([
        callTool("use_skill", { name: "audit" }),
        callTool("use_skill", { name: "style" }),
        say("ok"),
      ]),
      child,
    },
    {
      skills: [
        { name: "audit", description: "Audits.", prompt: "Audit.", isolated: true },
        { name: "style", description: "Style.", prompt: "Be brief.", isolated: false },
      ],
      beforeDelegation: (call) => {
        calls.push(call);
        return { refuse: "no audits" };
      },
    },
  );
  await errand.run("go");
  expect(calls).toMatchObject([{ tool: "use_skill", agent: "audit", context: null }]);
  expect(toolText(parentRequests(models)[1])).toContain("no audits");
});
