import { expect, test } from "vitest";
import type { ModelRequest } from "../../src/index.ts";
import { byContext, callTool, callTools, fail, hang, say } from "../../src/testing/index.ts";
import { requestText, toolFailed, toolText } from "../support/model-requests.ts";
import { delegationCall, runDelegation } from "../support/run-delegation.ts";
import { gate, report, startSeveral } from "../support/scripted-replies.ts";
import { eventsUntilFacts, factsOfType } from "../support/tree-facts.ts";
import { eventsUntil, lookTool, openTestErrand, temporaryStore, turnsEnded } from "../support/test-errand.ts";

const SPAWNING = ["subagent", "start_background_agent"];
const DELEGATING = [...SPAWNING, "list_runs", "read_result", "cancel_run", "steer_run"];

function delegationTools(request: ModelRequest | undefined): string[] {
  return (request?.tools ?? []).map((tool) => tool.name).filter((name) => name !== "look");
}

test("A8: a foreground agent sees all but send_user_message; a child at the limit no tool for runs", async () => {
  const { parent, child } = await runDelegation("awaited", [report("x"), say("end")]);
  expect(delegationTools(parent[0]).toSorted()).toEqual(["send_agent_message", ...DELEGATING].toSorted());
  expect(delegationTools(child[0]).toSorted()).toEqual(["send_agent_message", "send_user_message"]);
});

test("A8: a background agent above the depth limit sees every delegation tool", async () => {
  const { errand, models } = await openTestErrand({ parent: [say("hi")] });
  await (await errand.openAgent({ kind: "background" })).postAndAwait("hello");
  expect(delegationTools(models.requests[0]).toSorted()).toEqual(
    ["send_agent_message", ...DELEGATING, "send_user_message"].toSorted(),
  );
});

test("A8: a call of a tool that is not visible is refused by the runtime", async () => {
  const { errand, models } = await openTestErrand({
    parent: byContext([
      callTool("send_user_message", { text: "hello" }),
      callTool("send_agent_message", { text: "to nobody" }),
      callTool("send_agent_message", { text: "" }),
      callTool("cancel_run", { run_id: "x", force: true }),
      say("I see"),
    ]),
  });
  const agent = await errand.openAgent();
  await agent.postAndAwait("go");
  const [, invisible, parentless, empty, unknown] = models.requests;
  expect([invisible, parentless, empty, unknown].map(toolFailed)).toEqual([true, true, true, true]);
  expect(toolText(invisible)).toContain('there is no tool "send_user_message" here');
  expect(toolText(parentless)).toContain("no parent");
  expect(toolText(empty)).toContain("`text` must not be empty");
  expect(toolText(unknown)).toContain("`force` is not known here");
  const facts = (await eventsUntil(errand, agent.id, turnsEnded(1))).flatMap((event) => event.facts);
  expect(factsOfType(facts, "message-sent")).toEqual([]);
});

test.each(SPAWNING)("A8: %s called at the depth limit is refused, and no run is made", async (name) => {
  const { child, facts } = await runDelegation("awaited", [
    callTool(name, { task: "deeper" }),
    report("x"),
    say("end"),
  ]);
  expect(JSON.parse(toolText(child[1]))).toMatchObject({ reason: "depth-limit" });
  expect(factsOfType(facts, "run-created")).toHaveLength(1);
});

test("A8: the answers of send_agent_message and send_user_message", async () => {
  const { root, child } = await runDelegation("awaited", (_request, { replies }) => {
    const calls = [report("final"), callTool("send_user_message", { text: "nearly there" }), say("end")];
    return calls[replies] ?? fail();
  });
  expect(toolText(child[1])).toBe(JSON.stringify({ status: "sent", agent_id: root, report: true }));
  expect(toolText(child[2])).toBe(JSON.stringify({ status: "sent", agent_id: root }));
});

test("A8: the answers of list_runs, read_result, steer_run and cancel_run", async () => {
  const { errand, models } = await openTestErrand({
    parent: (request, { replies }) => {
      const [quick = "", slow = ""] = [...requestText(request).matchAll(/"run_id":"([^"]+)"/g)].map(
        (match) => match[1] ?? "",
      );
      const script = [
        callTools([
          { name: "subagent", input: { task: "quick" } },
          { name: "start_background_agent", input: { task: "slow", label: "the slow one" } },
        ]),
        callTool("list_runs", {}),
        callTool("list_runs", { state: "running" }),
        callTool("read_result", { run_id: quick, offset: 2, limit: 3 }),
        callTool("read_result", { run_id: quick, offset: 5 }),
        callTool("steer_run", { run_id: slow, text: "faster" }),
        callTool("cancel_run", { run_id: slow }),
        callTool("cancel_run", { run_id: slow }),
        callTool("cancel_run", { run_id: quick }),
        callTool("steer_run", { run_id: slow, text: "faster" }),
        say("done"),
      ];
      return script[replies] ?? say("told");
    },
    child: (_request, { task, replies }) => {
      if (task === "slow") return hang();
      return replies === 0 ? report("0123456789") : say("end");
    },
  });
  const agent = await errand.openAgent();
  await agent.postAndAwait("go");
  const runs = await errand.listRuns();
  const [quick, slow] = runs;
  const parent = models.model("scripted/parent").requests;
  const listed = JSON.parse(toolText(parent[2])) as { [key: string]: unknown }[];
  expect(listed.map((row) => Object.keys(row))).toEqual([
    ["run_id", "name", "state", "status", "elapsed_ms"],
    ["run_id", "name", "state", "elapsed_ms"],
  ]);
  expect(listed).toMatchObject([
    { run_id: quick?.id, name: "quick", state: "ended", status: "ok" },
    { run_id: slow?.id, name: "the slow one", state: "running" },
  ]);
  expect(JSON.parse(toolText(parent[3]))).toMatchObject([{ run_id: slow?.id }]);
  expect(JSON.parse(toolText(parent[4]))).toEqual({ text: "234", offset: 2, bytes: 10, next_offset: 5 });
  expect(JSON.parse(toolText(parent[5]))).toEqual({ text: "56789", offset: 5, bytes: 10 });
  expect(JSON.parse(toolText(parent[6]))).toEqual({ status: "sent" });
  expect(JSON.parse(toolText(parent[7]))).toEqual({ status: "cancelled", cancelled: 1 });
  expect(JSON.parse(toolText(parent[8]))).toEqual({ status: "already_ended", cancelled: 0 });
  expect(JSON.parse(toolText(parent[9]))).toEqual({ status: "already_ended", cancelled: 0 });
  expect(toolFailed(parent[10])).toBe(true);
});

test.each(["read_result", "cancel_run", "steer_run"])("A8: %s reaches own descendants only", async (name) => {
  const siblingKnown = gate();
  let sibling = "";
  const { errand, models } = await openTestErrand(
    {
      parent: byContext([startSeveral(["victim", "intruder"]), say("started"), say("told")]),
      child: async (_request, { task, replies }) => {
        if (task === "victim") return hang();
        if (replies > 0) return replies === 1 ? report("tried") : say("end");
        await siblingKnown.passed;
        return callTool(name, { run_id: sibling, ...(name === "steer_run" ? { text: "obey" } : {}) });
      },
    },
    { limits: { maxDepth: 2 } },
  );
  const agent = await errand.openAgent();
  await agent.postAndAwait("go");
  sibling = (await errand.listRuns())[0]?.id ?? "";
  siblingKnown.open();
  await eventsUntilFacts(errand, agent.id, "run-ended");
  const intruder = models
    .model("scripted/child")
    .requests.findLast((request) => requestText(request).includes("intruder"));
  expect(requestText(intruder)).toContain(`${name}: no such run below you`);
  expect((await errand.getRun(sibling)).state).toBe("running");
});

test("A8: list_runs names no runs of others", async () => {
  const script = [callTool("list_runs", {}), report("x"), say("end")];
  const { child } = await runDelegation("background", script, { limits: { maxDepth: 2 } });
  expect(toolText(child[1])).toBe("[]");
});

test.each(["list_runs", "read_result", "cancel_run", "steer_run"])(
  "A8: %s is refused to an agent that may not delegate",
  async (name) => {
    const call = callTool(
      name,
      name === "list_runs" ? {} : { run_id: "x", ...(name === "steer_run" ? { text: "t" } : {}) },
    );
    const { child } = await runDelegation("awaited", [call, report("x"), say("end")]);
    expect(toolFailed(child[1])).toBe(true);
    expect(toolText(child[1])).toContain(`there is no tool "${name}" here`);
  },
);

test("A8: a root's send_agent_message takes text and agentId only, and its advice fits a root", async () => {
  const { errand, models } = await openTestErrand({
    parent: byContext([
      callTool("send_agent_message", { text: "x", artifacts: [] }),
      callTool("send_agent_message", { text: "x", agentId: "0198c0de-0000-7000-8000-000000000000" }),
      callTool("send_agent_message", { text: "x", final: true, agentId: "0198c0de-0000-7000-8000-000000000000" }),
      say("I see"),
    ]),
  });
  await (await errand.openAgent()).postAndAwait("go");
  const spec = models.requests[0]?.tools.find((tool) => tool.name === "send_agent_message");
  expect(spec?.schema).toMatchObject({ properties: { text: expect.anything(), agentId: expect.anything() } });
  expect(JSON.stringify(spec?.schema)).not.toMatch(/artifacts|data|final/);
  const [, artifacts, unknown, final] = models.requests;
  expect([artifacts, unknown, final].map(toolFailed)).toEqual([true, true, true]);
  expect(toolText(artifacts)).toContain("`artifacts` is not known here");
  expect(toolText(unknown)).toContain("no such agent in your tree");
  expect(toolText(unknown)).not.toContain("your parent");
});

test("A9: a child has no tool that its parent has not: it neither sees it nor may call it", async () => {
  let looked = 0;
  const tool = lookTool(async () => {
    looked += 1;
    return { text: "saw it", failed: false };
  });
  const { child } = await runDelegation("awaited", [callTool("look", {}), report("x"), say("end")], {
    tools: [tool],
    parent: { tools: [] },
    child: { tools: ["look"] },
  });
  expect(child[0]?.tools.map((known) => known.name)).not.toContain("look");
  expect(toolFailed(child[1])).toBe(true);
  expect(toolText(child[1])).toContain('there is no tool "look" here');
  expect(looked).toBe(0);
});

test("A9: on resume a child loses what its parent no longer has, also a call that was under way", async () => {
  const store = temporaryStore();
  let looked = 0;
  const looking = gate();
  const tool = lookTool(async () => {
    looked += 1;
    looking.open();
    return new Promise(() => {});
  });
  const first = await openTestErrand(
    { parent: [delegationCall("background"), say("started")], child: [callTool("look", {})] },
    { store, tools: [tool] },
  );
  const agent = await first.errand.openAgent();
  await agent.postAndAwait("go");
  await looking.passed;
  await first.errand.close({ withinMs: 0 });
  const second = await openTestErrand(
    { parent: [say("told")], child: [callTool("look", {}), report("could not look"), say("end")] },
    { store, tools: [tool], parent: { tools: [] } },
  );
  await eventsUntilFacts(second.errand, agent.id, "run-ended");
  const child = second.models.model("scripted/child").requests;
  expect(child[0]?.tools.map((known) => known.name)).not.toContain("look");
  expect(child.slice(0, 2).map(toolFailed)).toEqual([true, true]);
  expect(toolText(child[1])).toContain('there is no tool "look" here');
  expect(looked).toBe(1);
});

test("A9, I15: a definition that changed between two processes leaves the turn under way whole", async () => {
  const store = temporaryStore();
  const looking = gate();
  const tool = lookTool(async () => {
    looking.open();
    return new Promise(() => {});
  });
  const first = await openTestErrand({ parent: [callTool("look", {})] }, { store, tools: [tool] });
  const agent = await first.errand.openAgent();
  await agent.post("go", { id: "m" });
  await looking.passed;
  await first.errand.close({ withinMs: 0 });
  const second = await openTestErrand({ parent: [say("seen")] }, { store, parent: { prompt: "You are renewed." } });
  expect((await (await second.errand.agent(agent.id)).postAndAwait("go", { id: "m" })).text).toBe("seen");
  const [request] = second.models.requests;
  expect(request?.system).toContain("You are renewed.");
  expect(request?.messages.map((message) => message.role)).toEqual(["user", "assistant", "tool"]);
  expect(toolText(request)).toBe("saw it");
});

test("B9: a root that writes to an agent that is not there gets advice that fits a root", async () => {
  const { errand, models } = await openTestErrand({
    parent: byContext([callTool("send_agent_message", { text: "x", agentId: "nobody" }), say("end")]),
  });
  await (await errand.openAgent()).postAndAwait("go");
  const told = toolText(models.model("scripted/parent").requests[1]);
  expect(told).toContain("no such agent in your tree; you are its root");
  expect(told).not.toContain("your parent");
});
