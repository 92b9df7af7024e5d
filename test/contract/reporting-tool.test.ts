import { describe, expect, test } from "vitest";
import { byContext, callTool, callTools, fail, malformedCall, say } from "../../src/testing/index.ts";
import {
  countUserMessages,
  newestUserText,
  occurrences,
  requestText,
  toolFailed,
  toolText,
} from "../support/model-requests.ts";
import { delegationCall, type Mode, MODES, NUDGE_TAG, NUDGE_TOOL, runDelegation } from "../support/run-delegation.ts";
import { gate, report, startSeveral } from "../support/scripted-replies.ts";
import { eventsUntilFacts, factsOfType } from "../support/tree-facts.ts";
import { eventsUntil, openTestErrand, turnsEnded } from "../support/test-errand.ts";

/** What the parent was told, in the words of its mode. */
function expectTold(
  mode: Mode,
  told: string,
  expected: { label: string; text: string; report: string; nudged: boolean },
): void {
  if (mode === "awaited") {
    const { label, text, ...facts } = expected;
    expect(label).toMatch(/^completed/);
    expect(JSON.parse(told)).toMatchObject({ success: true, summary: text, ...facts });
    return;
  }
  expect(told).toContain(`"the task" ${expected.label}.`);
  expect(told).toContain(expected.text);
}

describe.each(MODES)("%s", (mode) => {
  test("B1: a child that reports at once is not nudged; its report is the response text", async () => {
    const { child, run, delivered, errand } = await runDelegation(mode, [
      report("the result"),
      say("my closing words"),
    ]);
    expect(child).toHaveLength(2);
    expect(run).toMatchObject({ status: "ok", reason: null, report: "tool", nudged: false });
    expectTold(mode, delivered, { label: "completed successfully", text: "the result", report: "tool", nudged: false });
    expect(delivered).not.toContain("my closing words");
    expect(await errand.result(run.id)).toBe("the result");
  });

  test("B1: a report may name the parent's id", async () => {
    const { child, run } = await runDelegation(mode, (request, { replies }) => {
      const parent = /parent agent \(id ([^)]+)\)/.exec(request.system)?.[1] ?? "";
      return replies === 0 ? callTool("send_agent_message", { text: "by id", agentId: parent }) : say("end");
    });
    expect(JSON.parse(toolText(child[1]))).toMatchObject({ status: "sent", report: true });
    expect(run).toMatchObject({ status: "ok", report: "tool", nudged: false });
  });

  test("B1: the last report is the response text", async () => {
    const { delivered, run, errand } = await runDelegation(mode, [report("first"), report("second"), say("end")]);
    expectTold(mode, delivered, { label: "completed successfully", text: "second", report: "tool", nudged: false });
    expect(delivered).not.toContain("first");
    expect((await errand.result(run.id)).startsWith("second")).toBe(true);
  });

  test("B2: a child that forgot to report gets the exact nudge once, and continues", async () => {
    const { child, run, delivered, facts } = await runDelegation(mode, [
      say("I am done"),
      report("oh, here"),
      say("unused"),
    ]);
    expect(child).toHaveLength(2);
    expect(child[1]?.messages.at(-1)).toEqual({ role: "user", text: NUDGE_TOOL });
    expect(factsOfType(facts, "nudge-given")).toHaveLength(1);
    expect(run).toMatchObject({ status: "ok", reason: null, report: "tool", nudged: true });
    expectTold(mode, delivered, { label: "completed successfully", text: "oh, here", report: "tool", nudged: true });
  });

  test("B2: a child that stays silent ends ok, no-report, salvaged, and its end is announced", async () => {
    const { child, run, delivered, facts } = await runDelegation(mode, [say("the real answer"), say("what else?")]);
    expect(child).toHaveLength(2);
    expect(factsOfType(facts, "nudge-given")).toHaveLength(1);
    expect(run).toMatchObject({
      status: "ok",
      reason: "no-report",
      report: "salvaged",
      nudged: true,
      delivery: "placed",
    });
    expectTold(mode, delivered, {
      label: "completed without reporting",
      text: "the real answer\n\nwhat else?",
      report: "salvaged",
      nudged: true,
    });
  });

  test("B2: a child that reports later than the nudge's first iteration has reported", async () => {
    const { child, run } = await runDelegation(mode, [
      say("hm"),
      callTool("look", {}),
      report("after a look"),
      say("unused"),
    ]);
    expect(child).toHaveLength(3);
    expect(run).toMatchObject({ status: "ok", reason: null, report: "tool", nudged: true });
  });

  test("B2: a send to another agent does not count as a report", async () => {
    const { child, run } = await runDelegation(mode, (request, { replies }) => {
      const own = /child agent \(id ([^)]+)\)/.exec(request.system)?.[1] ?? "";
      if (replies === 0) return callTool("send_agent_message", { text: "note to myself", agentId: own });
      return say("that is all");
    });
    expect(JSON.parse(toolText(child[1]))).toMatchObject({ status: "sent", report: false });
    expect(child.filter((request) => newestUserText(request) === NUDGE_TOOL)).toHaveLength(1);
    expect(run).toMatchObject({ status: "ok", reason: "no-report", report: "salvaged", nudged: true });
  });

  test.each([
    ["to nobody", callTool("send_agent_message", { text: "x", agentId: "0198c0de-0000-7000-8000-000000000000" })],
    ["with an empty text", callTool("send_agent_message", { text: "" })],
    ["with an unknown property", callTool("send_agent_message", { text: "x", status: "ok" })],
    ["with broken arguments", malformedCall("send_agent_message")],
  ])("B1: a failed send (%s) does not count as a report", async (_name, call) => {
    const { child, run } = await runDelegation(mode, [call, say("sent, I think"), say("really")]);
    expect(toolFailed(child[1])).toBe(true);
    expect(child[2]?.messages.at(-1)).toEqual({ role: "user", text: NUDGE_TOOL });
    expect(run).toMatchObject({ status: "ok", reason: "no-report", report: "salvaged", nudged: true });
  });

  test("B1: a send whose artifact is of no kind is not a report", async () => {
    const artifacts = [{ kind: "zip", value: 1 }];
    const bad = callTool("send_agent_message", { text: "x", artifacts });
    const { child, run } = await runDelegation(mode, [bad, say("sent, I think"), say("really")]);
    expect(toolFailed(child[1])).toBe(true);
    expect(child[2]?.messages.at(-1)).toEqual({ role: "user", text: NUDGE_TOOL });
    expect(run).toMatchObject({ report: "salvaged", nudged: true });
  });

  test("B0: in a tool run <response> has no meaning: not extracted, not stripped, no substitute", async () => {
    const words = "before <response>inside</response> after";
    const { child, run, delivered } = await runDelegation(mode, [say("no"), say(words)]);
    expect(child[1]?.messages.at(-1)).toEqual({ role: "user", text: NUDGE_TOOL });
    expect(requestText(child[1])).not.toContain(NUDGE_TAG);
    expect(run).toMatchObject({ status: "ok", reason: "no-report", report: "salvaged" });
    if (mode === "awaited") expect(JSON.parse(delivered)).toMatchObject({ summary: `no\n\n${words}` });
    else expect(delivered).toMatch(/before [\s\S]*inside[\s\S]* after/);
  });

  test("B0: NO_REPLY is not a report", async () => {
    const { child, run } = await runDelegation(mode, [say("NO_REPLY"), say("NO_REPLY")]);
    expect(child[1]?.messages.at(-1)).toEqual({ role: "user", text: NUDGE_TOOL });
    expect(run).toMatchObject({ status: "ok", reason: "no-report", nudged: true });
  });

  test("B2: a nudge stays once per run, over every turn of the child", async () => {
    const { child, run } = await runDelegation(
      mode,
      (_request, { task, replies, newest: last }) => {
        if (task === "deeper") return replies === 0 ? report("deep") : say("end");
        if (replies === 0) return say("hm");
        if (last === NUDGE_TOOL) return callTool("start_background_agent", { task: "deeper" });
        return say(`words ${replies}`);
      },
      { limits: { maxDepth: 2 } },
    );
    const own = child.filter((request) => requestText(request).startsWith("the task"));
    expect(Math.max(...own.map((request) => countUserMessages(request, NUDGE_TOOL)))).toBe(1);
    expect(run).toMatchObject({ status: "ok", reason: "no-report", nudged: true });
  });
});

test("B0: an agent that is not a child is never nudged for a report", async () => {
  for (const kind of ["foreground", "background"] as const) {
    const { errand, models } = await openTestErrand({ parent: [callTool("look", {}), say("done")] });
    const agent = await errand.openAgent({ kind });
    expect((await agent.postAndAwait("hello")).text).toBe("done");
    expect(models.requests).toHaveLength(2);
    expect(requestText(models.requests[1])).not.toContain(NUDGE_TOOL);
  }
});

test("B2: runs that did not report count as succeeded in an announcement of several", async () => {
  const { errand, models } = await openTestErrand({
    parent: byContext([startSeveral(["good", "forgetful", "broken"]), say("started"), say("told")]),
    child: (_request, { task, replies }) => {
      if (task === "broken") return fail();
      if (task === "good") return replies === 0 ? report("fine") : say("end");
      return say("words only");
    },
  });
  const agent = await errand.openAgent();
  await agent.post("go");
  await eventsUntil(errand, agent.id, turnsEnded(2));
  const told = newestUserText(models.model("scripted/parent").requests.at(-1));
  expect(told).toContain("Results: 2 succeeded, 1 failed/timed out");
  expect(occurrences(told, "Status: completed without reporting")).toBe(1);
});

test("B1: reports beside other calls of one reply count, and a reply may hold several", async () => {
  const { run, delivered } = await runDelegation("awaited", [
    callTools([
      { name: "send_agent_message", input: { text: "progress" } },
      { name: "look", input: {} },
      { name: "send_agent_message", input: { text: "the end" } },
    ]),
    say("end"),
  ]);
  expect(run).toMatchObject({ report: "tool", nudged: false });
  expect(JSON.parse(delivered)).toMatchObject({ summary: "the end" });
});

test("B1: under announce each, a send that found the parent's inbox full is no report", async () => {
  const [speaking, filled] = [gate(), gate()];
  const { errand, models } = await openTestErrand(
    {
      parent: async (_request, { replies }) => {
        if (replies === 0) return delegationCall("background", { announce: "each" });
        if (replies === 1) await speaking.passed;
        return say(`line ${replies}`);
      },
      child: async (_request, { replies }) => {
        await filled.passed;
        return replies === 0 ? report("no room for this") : say("never mind");
      },
    },
    { limits: { inboxMessages: 1 } },
  );
  const agent = await errand.openAgent();
  await agent.post("go");
  await eventsUntilFacts(errand, agent.id, "run-started");
  await agent.post("filler", { kind: "system" });
  filled.open();
  await eventsUntilFacts(errand, agent.id, "run-ended");
  const child = models.model("scripted/child").requests;
  expect(toolFailed(child[1])).toBe(true);
  expect(child[2]?.messages.at(-1)).toEqual({ role: "user", text: NUDGE_TOOL });
  expect((await errand.listRuns())[0]).toMatchObject({ reason: "no-report", report: "salvaged", nudged: true });
  speaking.open();
});
