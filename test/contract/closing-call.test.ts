/** Rule B7: a delivered report is not undone by the call that only closes the turn. */

import { expect, test } from "vitest";
import type { DelegationRecord } from "../../src/index.ts";
import { byContext, callTool, callTools, fail, hang, say } from "../../src/testing/index.ts";
import { delegationCall, MODES, runDelegation } from "../support/run-delegation.ts";
import { report } from "../support/scripted-replies.ts";
import { eventsUntilFacts, factsOfType } from "../support/tree-facts.ts";
import { lookTool, openTestErrand } from "../support/test-errand.ts";
import { createTestWorld } from "../support/test-world.ts";

test.each(MODES)("B7: a provider failure in the closing call ends the run ok, without a retry (%s)", async (mode) => {
  const broken = fail({ message: "overloaded", retryable: true });
  const { run, child, delivered, facts } = await runDelegation(mode, [report("all of it"), broken]);
  expect(run).toMatchObject({ status: "ok", reason: null, report: "tool" });
  expect(child).toHaveLength(2);
  expect(delivered).toContain("all of it");
  expect(factsOfType(facts, "model-retry-set")).toEqual([]);
  expect(factsOfType(facts, "run-ended")).toMatchObject([{ status: "ok", closed: "provider-error" }]);
});

test.each([
  ["an overflow", fail({ code: "context-overflow", message: "too long" }), "context-overflow"],
  ["a refusal", { kind: "reply", parts: [], stop: "refused" }, "refused"],
] as const)("B7: %s in the closing call ends the run ok", async (_what, reply, closed) => {
  const { run, facts } = await runDelegation("background", [report("all of it"), reply]);
  expect(run).toMatchObject({ status: "ok", report: "tool" });
  expect(factsOfType(facts, "run-ended")).toMatchObject([{ status: "ok", closed }]);
});

test("B7: max_iterations 1 works for a child that reports and would close in another call", async () => {
  const { run, child, facts } = await runDelegation("awaited", [report("all of it"), say("never asked")], {
    args: { max_iterations: 1 },
  });
  expect(run.status).toBe("ok");
  expect(child).toHaveLength(1);
  expect(factsOfType(facts, "run-ended")).toMatchObject([{ closed: "iteration-limit" }]);
});

test("B7: the deadline in the closing call ends the run ok; the record says why", async () => {
  const world = createTestWorld();
  const { errand } = await openTestErrand(
    {
      parent: byContext([delegationCall("awaited", { timeout_seconds: 30 }), say("told")]),
      child: byContext([report("x"), hang()]),
    },
    { world },
  );
  const records: DelegationRecord[] = [];
  errand.onDelegation((record) => records.push(record));
  const agent = await errand.openAgent();
  await agent.post("go");
  await world.advance(31_000);
  await eventsUntilFacts(errand, agent.id, "turn-ended");
  expect(await errand.listRuns()).toMatchObject([{ status: "ok", reason: null, report: "tool" }]);
  expect(records).toMatchObject([{ status: "ok", closed: "deadline", error: null }]);
});

test("B7: a cancellation in the closing call stays one", async () => {
  const { errand } = await openTestErrand({
    parent: byContext([delegationCall("background"), say("started"), say("told")]),
    child: byContext([report("x"), hang()]),
  });
  const agent = await errand.openAgent();
  await agent.postAndAwait("go");
  await eventsUntilFacts(errand, agent.id, "run-reported");
  const [run] = await errand.listRuns();
  expect(await errand.cancel(run?.id ?? "")).toBe(true);
  expect(await errand.getRun(run?.id ?? "")).toMatchObject({ status: "cancelled", report: "tool" });
});

test("B7: a failure is not forgiven while a call of the reply that reported is still open", async () => {
  const tool = lookTool(() => new Promise(() => {}));
  const { run } = await runDelegation(
    "awaited",
    [
      callTools([
        { name: "send_agent_message", input: { text: "x" } },
        { name: "look", input: {} },
      ]),
    ],
    { tools: [tool], args: { timeout_seconds: 1 } },
  );
  expect(run).toMatchObject({ status: "timeout", reason: "deadline", report: "tool" });
});

test("B7: a failure is not forgiven once the child went on working", async () => {
  const { run } = await runDelegation("awaited", [report("x"), callTool("look", {}), fail({ message: "no credit" })]);
  expect(run).toMatchObject({ status: "error", reason: "provider-error", report: "tool" });
});

test("B7: a failure is not forgiven while the run has open children", async () => {
  const { run } = await runDelegation(
    "background",
    (_request, { task, replies }) => {
      if (task === "deeper") return hang();
      if (replies === 0) return callTool("start_background_agent", { task: "deeper" });
      return replies === 1 ? report("x") : fail({ message: "no credit" });
    },
    { limits: { maxDepth: 2 } },
  );
  expect(run).toMatchObject({ status: "error", reason: "provider-error", report: "tool" });
});

test("B7, A2: who waits for the child gets its report, although its closing call failed", async () => {
  const asked = Promise.withResolvers<void>();
  const { errand } = await openTestErrand({
    parent: () => say("ok"),
    child: async (_request, { replies }) => {
      if (replies === 0) await asked.promise;
      return replies === 0 ? report("the report") : fail({ message: "no credit" });
    },
  });
  const agent = await errand.openAgent();
  const run = await agent.spawn({ task: "x" });
  const child = await errand.agent(run.agent);
  const answer = child.postAndAwait("well?", { id: "m", kind: "steer" });
  await child.post("well?", { id: "m", kind: "steer" });
  asked.resolve();
  expect((await answer).text).toBe("the report");
});

test("B7, F8: the record of a run that was closed is that of a success, with why its closing call failed", async () => {
  const { errand } = await openTestErrand({
    parent: byContext([delegationCall("awaited"), say("told")]),
    child: byContext([report("x"), fail({ message: "overloaded", retryable: true })]),
  });
  const records: DelegationRecord[] = [];
  errand.onDelegation((record) => records.push(record));
  await (await errand.openAgent()).postAndAwait("go");
  expect(records).toMatchObject([{ status: "ok", reason: null, error: null, closed: "provider-error" }]);
});

test("B7: whatever the budget of the tree is, a child that has reported has succeeded", async () => {
  const seen = new Set<string>();
  for (let tokensPerTree = 1_500; tokensPerTree <= 9_000; tokensPerTree += 250) {
    const { run, facts } = await runDelegation("awaited", [report("x"), say("end")], {
      limits: { tokensPerTree },
    }).catch(() => ({ run: null, facts: [] }));
    if (run === null || factsOfType(facts, "run-reported").length === 0) continue;
    expect(run).toMatchObject({ status: "ok", report: "tool" });
    seen.add(factsOfType(facts, "run-ended")[0]?.closed ?? "ended by itself");
  }
  expect([...seen]).toEqual(expect.arrayContaining(["token-limit", "ended by itself"]));
});
