import { expect, test } from "vitest";
import { callTool, callTools, fail, hang, say } from "../../src/testing/index.ts";
import { countUserMessages, newestUserText, requestText } from "../support/model-requests.ts";
import { delegationCall, MODES, NUDGE_TAG, NUDGE_TOOL, runDelegation } from "../support/run-delegation.ts";
import { gate, report } from "../support/scripted-replies.ts";
import { allFacts, eventsUntilFacts, factsOfType } from "../support/tree-facts.ts";
import { eventsUntil, openTestErrand, temporaryStore, turnsEnded } from "../support/test-errand.ts";

test("B5: a restart does not nudge twice", async () => {
  const store = temporaryStore();
  const first = await openTestErrand(
    { parent: [delegationCall("background"), say("started")], child: [say("I forgot"), hang()] },
    { store },
  );
  const agent = await first.errand.openAgent();
  await agent.postAndAwait("go");
  await eventsUntilFacts(first.errand, agent.id, "nudge-given");
  await first.errand.close({ withinMs: 0 });
  const second = await openTestErrand(
    { parent: [say("told")], child: [say("and forgot again"), say("and again")] },
    { store },
  );
  const events = await eventsUntil(second.errand, agent.id, turnsEnded(2));
  expect(factsOfType(allFacts(events), "nudge-given")).toHaveLength(1);
  const child = second.models.model("scripted/child").requests;
  expect(child).toHaveLength(1);
  expect(child[0]?.messages.at(-1)).toEqual({ role: "user", text: NUDGE_TOOL });
  expect(countUserMessages(child[0], NUDGE_TOOL)).toBe(1);
  expect((await second.errand.listRuns())[0]).toMatchObject({ status: "ok", reason: "no-report", nudged: true });
});

test.each(MODES)(
  "B5: the nudge has one iteration of its own beyond the cap, in which a send ends the turn (%s)",
  async (mode) => {
    const { child, run } = await runDelegation(
      mode,
      [callTool("look", {}), say("forgot"), report("in time"), say("unused")],
      {
        args: { max_iterations: 2 },
      },
    );
    expect(child).toHaveLength(3);
    expect(run).toMatchObject({ status: "ok", reason: null, report: "tool", nudged: true });
  },
);

test("B2, B5: a nudged child that uses its one iteration for something else ends without a report", async () => {
  const { child, run } = await runDelegation("background", [say("forgot"), callTool("look", {}), report("too late")], {
    args: { max_iterations: 1 },
  });
  expect(child).toHaveLength(2);
  expect(run).toMatchObject({ status: "ok", reason: "no-report", report: "salvaged", nudged: true });
});

test("B5: the nudge waits until the child has no live children and no unannounced results", async () => {
  const working = gate();
  const { errand, models } = await openTestErrand(
    {
      parent: [delegationCall("background"), say("started"), say("told")],
      child: async (_request, { task, replies }) => {
        if (task !== "deeper")
          return replies === 0 ? callTool("start_background_agent", { task: "deeper" }) : say(`words ${replies}`);
        await working.passed;
        return replies === 0 ? report("deep result") : say("end");
      },
    },
    { limits: { maxDepth: 2 } },
  );
  const agent = await errand.openAgent();
  await agent.postAndAwait("go");
  const waiting = await eventsUntilFacts(errand, agent.id, "run-state-changed");
  expect(factsOfType(allFacts(waiting), "nudge-given")).toEqual([]);
  working.open();
  const facts = allFacts(await eventsUntil(errand, agent.id, turnsEnded(2)));
  const own = models.model("scripted/child").requests.filter((request) => requestText(request).startsWith("the task"));
  expect(own.map((request) => newestUserText(request)).findIndex((text) => text.includes("deep result"))).toBe(2);
  expect(own.map((request) => newestUserText(request)).indexOf(NUDGE_TOOL)).toBe(3);
  expect(factsOfType(facts, "nudge-given")).toHaveLength(1);
  expect(factsOfType(facts, "run-ended").map((fact) => fact.run)).toEqual([2, 1]);
});

test("B5: the nudge waits until the child's inbox is empty", async () => {
  const held = gate();
  const { errand, models } = await openTestErrand({
    parent: [delegationCall("background"), say("started"), say("told")],
    child: async (_request, { replies }) => {
      if (replies === 0) await held.passed;
      return say(`words ${replies}`);
    },
  });
  const agent = await errand.openAgent();
  await agent.postAndAwait("go");
  const child = await errand.agent((await errand.listRuns())[0]?.agent ?? "");
  await child.post("one more thing");
  held.open();
  await eventsUntilFacts(errand, agent.id, "run-ended");
  const requests = models.model("scripted/child").requests;
  expect(requests.map((request) => newestUserText(request))).toEqual(["the task", "one more thing", NUDGE_TOOL]);
});

test("B5: a silent message that waits does not alter the nudge", async () => {
  const held = gate();
  const { errand, models } = await openTestErrand({
    parent: [delegationCall("background"), say("started"), say("told")],
    child: async (_request, { replies }) => {
      if (replies === 0) await held.passed;
      return say(`words ${replies}`);
    },
  });
  const agent = await errand.openAgent();
  await agent.postAndAwait("go");
  const child = await errand.agent((await errand.listRuns())[0]?.agent ?? "");
  await child.post("for your information", { kind: "system", silent: true });
  held.open();
  await eventsUntilFacts(errand, agent.id, "run-ended");
  const nudged = models.model("scripted/child").requests.find((request) => requestText(request).includes(NUDGE_TOOL));
  expect(countUserMessages(nudged, NUDGE_TOOL)).toBe(1);
});

test.each([
  ["a provider error", fail(), "provider-error"],
  ["an overflow", fail({ code: "context-overflow" }), "context-overflow"],
  ["an abort", fail({ code: "aborted" }), "aborted"],
  ["a refusal", say("", { stop: "refused" }), "refused"],
] as const)("B5, scenario 14: after %s there is no nudge, and the reason is given", async (_name, reply, reason) => {
  for (const mode of MODES) {
    for (const reporting of ["tool", "tag"] as const) {
      const { child, run, facts } = await runDelegation(mode, [callTool("look", {}), reply, say("unused")], {
        child: { reporting },
      });
      expect(child).toHaveLength(2);
      expect(factsOfType(facts, "nudge-given")).toEqual([]);
      expect(run).toMatchObject({ status: "error", reason, nudged: false, delivery: "placed" });
      expect([NUDGE_TOOL, NUDGE_TAG].some((text) => requestText(child.at(-1)).includes(text))).toBe(false);
    }
  }
});

test.each(MODES)("B5, scenario 14: after the iteration limit there is no nudge (%s)", async (mode) => {
  const { child, run, facts, delivered } = await runDelegation(
    mode,
    () => callTools([{ name: "look", input: {} }], { text: "looking" }),
    {
      args: { max_iterations: 3 },
    },
  );
  expect(child).toHaveLength(3);
  expect(factsOfType(facts, "nudge-given")).toEqual([]);
  expect(run).toMatchObject({ status: "error", reason: "iteration-limit", report: "salvaged", nudged: false });
  if (mode === "awaited") expect(JSON.parse(delivered)).toMatchObject({ success: false, reason: "iteration-limit" });
  else expect(delivered).toContain('"the task" failed: iteration-limit');
});

test("B5: a cancelled run is not nudged", async () => {
  const { errand } = await openTestErrand({
    parent: [delegationCall("background"), say("started"), say("told")],
    child: [hang()],
  });
  const agent = await errand.openAgent();
  await agent.postAndAwait("go");
  await errand.cancel((await errand.listRuns())[0]?.id ?? "");
  const facts = allFacts(await eventsUntil(errand, agent.id, turnsEnded(2)));
  expect(factsOfType(facts, "nudge-given")).toEqual([]);
  expect((await errand.listRuns())[0]).toMatchObject({ status: "cancelled", report: "missing", nudged: false });
});

test("B5: a nudge is a message of its own also after a silent one has come to the waiting child", async () => {
  const { errand, models } = await openTestErrand(
    {
      parent: [delegationCall("background"), say("started"), say("told")],
      child: (_request, { task, replies }) => {
        if (task === "deeper") return replies === 0 ? report("deep result") : say("end");
        return replies === 0
          ? delegationCall("background", { task: "deeper", announce: "each" })
          : say(`words ${replies}`);
      },
    },
    { limits: { maxDepth: 2 } },
  );
  const agent = await errand.openAgent();
  await agent.post("go");
  await eventsUntil(errand, agent.id, turnsEnded(2));
  const own = models.model("scripted/child").requests.filter((request) => requestText(request).startsWith("the task"));
  expect(own.at(-1)?.messages.at(-1)).toEqual({ role: "user", text: NUDGE_TOOL });
});
