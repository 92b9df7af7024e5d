import { expect, test } from "vitest";
import { callTool, callTools, fail, hang, say } from "../../src/testing/index.ts";
import { newestUserText, requestText, toolText } from "../support/model-requests.ts";
import { delegationCall, MODES, runDelegation } from "../support/run-delegation.ts";
import { report } from "../support/scripted-replies.ts";
import { eventsUntilFacts } from "../support/tree-facts.ts";
import { lookTool, openTestErrand } from "../support/test-errand.ts";
import { createTestWorld } from "../support/test-world.ts";

const LABEL = "No final answer. Last tool output:";

test.each(MODES)(
  "B6: salvage takes the last words that are not empty, without thinking and written-out calls (%s)",
  async (mode) => {
    const parts = [
      { type: "text", text: "<thinking>secret</thinking> the answer" },
      { type: "reasoning", text: "reasoning" },
      { type: "text", text: "in two parts <tool_call>{}</tool_call>" },
    ] as const;
    const { run, delivered, errand } = await runDelegation(mode, [
      { kind: "reply", parts },
      say("<thinking>only thoughts</thinking>"),
    ]);
    expect(run).toMatchObject({ status: "ok", reason: "no-report", report: "salvaged", nudged: true });
    expect(await errand.result(run.id)).toBe("the answer\nin two parts");
    expect(delivered).not.toMatch(/secret|reasoning|only thoughts|tool_call/);
    if (mode === "awaited") expect(JSON.parse(delivered)).toMatchObject({ summary: "the answer\nin two parts" });
    else expect(delivered).toContain("the answer\nin two parts");
  },
);

test.each(MODES)(
  "B6, scenario 15: a child that made only tool calls has no answer; its last output stands under its label (%s)",
  async (mode) => {
    const script = [callTool("look", {}), callTool("look", {}), say(""), say("")];
    const { run, delivered, errand } = await runDelegation(mode, script);
    expect(run).toMatchObject({ status: "ok", reason: "no-report", report: "missing", nudged: true });
    expect(await errand.result(run.id)).toBe(`${LABEL}\nsaw it`);
    if (mode === "awaited")
      expect(JSON.parse(delivered)).toMatchObject({ summary: `${LABEL}\nsaw it`, report: "missing" });
    else expect(delivered).toContain(`${LABEL}\nsaw it`);
  },
);

test.each(MODES)(
  "B6: the result of a run that ended with a refusal is what its parent was told, not the words of the refusal (%s)",
  async (mode) => {
    const refusal = { ...say("I cannot help with that."), stop: "refused" } as const;
    const { run, delivered, errand } = await runDelegation(mode, [say("as far as I got"), refusal]);
    expect(run).toMatchObject({ status: "error", reason: "refused", report: "salvaged" });
    expect(delivered).toContain("as far as I got");
    expect(delivered).not.toContain("I cannot help");
    expect(await errand.result(run.id)).toContain("as far as I got");
    expect(await errand.result(run.id)).not.toContain("I cannot help");
  },
);

test.each(MODES)(
  "B6: a child that said nothing but a refusal has left no words: its last output stands under its label (%s)",
  async (mode) => {
    const refusal = { ...say("I cannot help with that."), stop: "refused" } as const;
    const { run, delivered, errand } = await runDelegation(mode, [callTool("look", {}), refusal]);
    expect(run).toMatchObject({ status: "error", reason: "refused", report: "missing" });
    expect(delivered).toContain("saw it");
    expect(delivered).not.toContain("I cannot help");
    expect(await errand.result(run.id)).toBe(`${LABEL}\nsaw it`);
  },
);

test.each(["<thinking>hm</thinking>NO_REPLY", "(empty reply)"])(
  "B6: a child that says %j has left no words",
  async (text) => {
    const { run, delivered } = await runDelegation("awaited", [say(text), say(text)]);
    expect(run).toMatchObject({ status: "ok", reason: "no-report", report: "missing" });
    expect(JSON.parse(delivered)).toMatchObject({ summary: "(no output)", report: "missing" });
  },
);

test("B6: the output of the last call is the result, also if outputs came in another order", async () => {
  const second = Promise.withResolvers<void>();
  const tool = lookTool(async (input) => {
    const { at } = input as { readonly at: string };
    if (at === "first") await second.promise;
    else second.resolve();
    return { text: `saw the ${at}`, failed: false };
  });
  const looks = ["first", "second"].map((at) => ({ name: "look", input: { at } }));
  const { run, delivered, errand } = await runDelegation("awaited", [callTools(looks), say(""), say("")], {
    tools: [tool],
  });
  expect(run.report).toBe("missing");
  const { summary } = JSON.parse(delivered) as { summary: string };
  expect(summary).toBe(`${LABEL}\nsaw the second`);
  expect(await errand.result(run.id)).toBe(summary);
});

test("B6, scenario 15: the answer of a failed send is not passed off as the child's output", async () => {
  const bad = callTool("send_agent_message", { text: "x", agentId: "nobody" });
  const { run, delivered, errand } = await runDelegation("awaited", [callTool("look", {}), bad, say(""), say("")]);
  expect(run.report).toBe("missing");
  const { summary } = JSON.parse(delivered) as { summary: string };
  expect(summary).toBe(`${LABEL}\nsaw it`);
  expect(await errand.result(run.id)).toBe(summary);
});

test.each(MODES)(
  "B6, scenario 13: a child that says nothing at all still ends, with (no output) (%s)",
  async (mode) => {
    const { run, delivered } = await runDelegation(mode, [say(""), say("")]);
    expect(run).toMatchObject({ status: "ok", reason: "no-report", report: "missing", delivery: "placed" });
    if (mode === "awaited")
      expect(JSON.parse(delivered)).toMatchObject({ success: true, summary: "(no output)", report: "missing" });
    else expect(delivered).toContain("Findings:\n(no output)");
  },
);

test.each(MODES)("B6, scenario 13: the end of a child that says NO_REPLY reaches the parent (%s)", async (mode) => {
  const { run, delivered } = await runDelegation(mode, [say("NO_REPLY"), say("NO_REPLY")]);
  expect(run).toMatchObject({ status: "ok", reason: "no-report", delivery: "placed" });
  if (mode === "awaited") expect(JSON.parse(delivered)).toMatchObject({ success: true, nudged: true });
  else expect(delivered).toContain('"the task" completed without reporting.');
});

test.each(MODES)(
  "B7: a run that reported and then hit a limit ends with that reason and its report as findings (%s)",
  async (mode) => {
    const { run, delivered, errand } = await runDelegation(
      mode,
      [report("half of it"), callTool("look", {}), say("unused")],
      {
        args: { max_iterations: 2 },
      },
    );
    expect(run).toMatchObject({ status: "error", reason: "iteration-limit", report: "tool", nudged: false });
    expect(await errand.result(run.id)).toBe("half of it");
    if (mode === "awaited")
      expect(JSON.parse(delivered)).toMatchObject({
        success: false,
        summary: "half of it",
        reason: "iteration-limit",
        report: "tool",
      });
    else expect(delivered).toMatch(/failed: iteration-limit[\s\S]*half of it/);
  },
);

test.each(MODES)(
  "B7: a run that reported, went on working and then failed ends with that reason and its report as findings (%s)",
  async (mode) => {
    const { run, delivered } = await runDelegation(mode, [
      report("half of it"),
      callTool("look", {}),
      fail({ message: "no credit" }),
    ]);
    expect(run).toMatchObject({ status: "error", reason: "provider-error", report: "tool" });
    expect(delivered).toContain("half of it");
  },
);

test("B7: status comes from what happened, never from the child's words", async () => {
  const liar = await runDelegation("background", [report("status: error, I failed, timed out, cancelled"), say("end")]);
  expect(liar.run.status).toBe("ok");
  expect(newestUserText(liar.parent.at(-1))).toContain('"the task" completed successfully.');
  const boaster = await runDelegation("background", [
    callTools([{ name: "look", input: {} }], { text: "completed successfully" }),
    fail(),
  ]);
  expect(boaster.run).toMatchObject({ status: "error", reason: "provider-error" });
});

const PRICE = { input: 1_000_000, output: 1_000_000, cachedInput: 1_000_000 };
const FREE = { input: 0, output: 0, cachedInput: 0 };

test.each([
  ["tokensPerTree", 6_000, "token-limit"],
  ["costPerTree", 6_000, "cost-limit"],
] as const)("B7: a run that meets %s ends with its reason, not ok and not nudged", async (limit, value, reason) => {
  const used = { input: 2_500, output: 100 };
  const { run } = await runDelegation("background", () => callTools([{ name: "look", input: {} }], { usage: used }), {
    limits: { [limit]: value },
    facts: { "scripted/child": { window: null, price: PRICE }, "scripted/parent": { window: null, price: FREE } },
  }).catch((error: unknown) => ({ run: error }));
  expect(run).toMatchObject({ status: "error", reason, nudged: false });
});

test("B7: a deadline is a timeout with its reason, also after earlier words", async () => {
  const world = createTestWorld();
  const { errand, models } = await openTestErrand(
    {
      parent: [delegationCall("awaited", { timeout_seconds: 30 }), say("end")],
      child: [callTools([{ name: "look", input: {} }], { text: "so far so good" }), hang()],
    },
    { world },
  );
  const agent = await errand.openAgent();
  await agent.post("go");
  await world.advance(31_000);
  const payload = toolText(models.model("scripted/parent").requests.at(-1));
  expect(JSON.parse(payload)).toMatchObject({
    success: false,
    summary: "so far so good",
    reason: "deadline",
    timed_out: true,
    report: "salvaged",
    nudged: false,
  });
});

test("B7: a cancelled awaited run is no success for its parent", async () => {
  const { errand, models } = await openTestErrand(
    { parent: [delegationCall("awaited"), say("end")], child: [callTool("look", {}), hang()] },
    { tools: [lookTool()] },
  );
  const agent = await errand.openAgent();
  const { id } = await agent.post("go");
  await eventsUntilFacts(errand, agent.id, "run-started");
  const [run] = await errand.listRuns();
  const waiting = agent.postAndAwait("go", { id });
  expect(await errand.cancel(run?.id ?? "")).toBe(true);
  expect((await waiting).text).toBe("end");
  expect(JSON.parse(toolText(models.model("scripted/parent").requests.at(-1)))).toMatchObject({
    success: false,
    reason: "cancelled",
    timed_out: false,
  });
  expect(requestText(models.model("scripted/child").requests.at(-1))).not.toContain("You haven't sent");
});
