import { expect, test } from "vitest";
import type { Model } from "../../src/index.ts";
import {
  byContext,
  callTool,
  createMemoryChannel,
  createScriptedModel,
  fail,
  hang,
  say,
} from "../../src/testing/index.ts";
import { newestUserText, occurrences, requestText, toolFailed, toolText } from "../support/model-requests.ts";
import { delegationCall, runDelegation } from "../support/run-delegation.ts";
import { gate, report, startSeveral } from "../support/scripted-replies.ts";
import { allFacts, eventsNow, eventsUntilFacts, factsOfType } from "../support/tree-facts.ts";
import { eventsUntil, openTestErrand, turnsEnded } from "../support/test-errand.ts";
import { createTestWorld } from "../support/test-world.ts";

test("B8, scenario 18: an awaited child's report reaches the parent only as the tool's result", async () => {
  const { errand, root, parent, facts, delivered, channel } = await runDelegation("awaited", [
    report("only once"),
    say("end"),
  ]);
  expect(JSON.parse(delivered)).toMatchObject({ success: true, summary: "only once" });
  expect(factsOfType(facts, "message-sent")).toEqual([]);
  expect(factsOfType(allFacts(await eventsNow(errand, root)), "announcement-queued")).toEqual([]);
  expect(parent).toHaveLength(2);
  expect(occurrences(requestText(parent.at(-1)), "only once")).toBe(1);
  expect(channel.messages).toHaveLength(1);
});

test("B8, scenario 16: together, the last send is the findings; earlier ones are counted and can be read", async () => {
  const { errand, run, delivered, facts, parent, child } = await runDelegation("background", [
    report("progress one"),
    report("progress two"),
    report("final text"),
    say("end"),
  ]);
  expect(delivered).toContain("final text");
  expect(delivered).not.toContain("progress");
  expect(delivered).toContain("messages 3");
  expect(factsOfType(facts, "message-sent")).toEqual([]);
  expect(parent).toHaveLength(3);
  const whole = await errand.result(run.id);
  expect(whole.startsWith("final text")).toBe(true);
  expect(whole).toContain("progress one");
  expect(whole).toContain("progress two");
  expect(requestText(child.at(-1))).toMatch(/progress one[\s\S]*progress two[\s\S]*final text/);
});

test("B8: each posts every committed send at once, and the end of a run that reported is one silent line", async () => {
  const going = gate();
  const { errand, models } = await openTestErrand({
    parent: (_request, { replies }) =>
      replies === 0 ? delegationCall("background", { announce: "each", label: "scout" }) : say(`line ${replies}`),
    child: async (_request, { replies }) => {
      if (replies === 1) await going.passed;
      return [report("first sight"), report("second sight"), say("end")][replies] ?? fail();
    },
  });
  const agent = await errand.openAgent();
  await agent.post("go");
  await eventsUntil(errand, agent.id, turnsEnded(2));
  const parent = models.model("scripted/parent").requests;
  const [run] = await errand.listRuns();
  expect(run?.state).toBe("running");
  expect(newestUserText(parent[2])).toMatch(new RegExp(`^<system_message origin="${run?.agent}">\\s*first sight`));
  going.open();
  await eventsUntil(errand, agent.id, turnsEnded(3));
  await eventsUntilFacts(errand, agent.id, "run-ended");
  expect((await errand.listRuns())[0]).toMatchObject({ state: "ended", delivery: "placed" });
  expect(factsOfType(allFacts(await eventsNow(errand, agent.id)), "announcement-queued")).toEqual([]);
  expect(parent).toHaveLength(4);
  await agent.postAndAwait("and?");
  expect(parent).toHaveLength(5);
  const all = requestText(parent.at(-1));
  expect([occurrences(all, "first sight"), occurrences(all, "second sight")]).toEqual([1, 1]);
  expect(occurrences(all, '"scout" completed successfully')).toBe(1);
});

test("B8: under each, a run that did not report is announced alone", async () => {
  const { delivered, run, facts } = await runDelegation("background", [say("words only"), say("still words")], {
    args: { announce: "each" },
  });
  expect(factsOfType(facts, "announcement-queued")).toHaveLength(1);
  expect(delivered).toContain('Background task "the task" completed without reporting.');
  expect(delivered).toContain("still words");
  expect(run).toMatchObject({ report: "salvaged", delivery: "placed" });
});

test("B9: a message to another agent of the tree arrives there, and is no report", async () => {
  const [known, heard] = [gate(), gate()];
  let sibling = "";
  const { errand, models } = await openTestErrand({
    parent: byContext([startSeveral(["listen", "speak"]), say("started"), say("told")]),
    child: async (_request, { task, replies, newest: last }) => {
      if (task === "listen") {
        if (last.includes("psst")) heard.open();
        if (replies === 0) await known.passed;
        return replies === 0 ? say("waiting") : ([report("I heard"), say("end")][replies - 1] ?? fail());
      }
      if (replies > 0) return say("I only whispered");
      await known.passed;
      return callTool("send_agent_message", { text: "psst", agentId: sibling });
    },
  });
  const agent = await errand.openAgent();
  await agent.postAndAwait("go");
  sibling = (await errand.listRuns())[0]?.agent ?? "";
  known.open();
  await heard.passed;
  await eventsUntil(errand, agent.id, turnsEnded(2));
  const [listener, speaker] = await errand.listRuns();
  expect(speaker).toMatchObject({ report: "salvaged", nudged: true });
  const requests = models
    .model("scripted/child")
    .requests.filter((request) => requestText(request).startsWith("listen"));
  const frame = `<system_message origin="${speaker?.agent}">`;
  expect(
    requests.some((request) => newestUserText(request).includes(frame) && newestUserText(request).includes("psst")),
  ).toBe(true);
  expect(requestText(models.model("scripted/parent").requests.at(-1))).not.toContain("psst");
  expect(listener?.report).toBe("tool");
});

test("B9: an unknown, a foreign and a closed target give the same error, and nothing is sent", async () => {
  const targets: string[] = ["0198c0de-0000-7000-8000-000000000000"];
  const { errand, models } = await openTestErrand({
    parent: (_request, { task, replies }) => {
      if (task === "make one") return replies === 0 ? delegationCall("awaited") : say("made");
      const agentId = targets[replies];
      return agentId === undefined ? say("gave up") : callTool("send_agent_message", { text: "hello?", agentId });
    },
    child: byContext([report("x"), say("end")]),
  });
  const other = await errand.openAgent();
  await other.postAndAwait("make one");
  const own = await errand.openAgent();
  await own.spawn({ task: "own child" });
  await eventsUntilFacts(errand, own.id, "turn-ended", 2);
  const runs = await errand.listRuns();
  targets.push(other.id, ...runs.map((run) => run.agent), ...runs.map((run) => run.id), "", "x");
  const asked = models.requests.length;
  await own.postAndAwait("write to all of them");
  const answers = models.requests.slice(asked + 1).map((request) => [toolFailed(request), toolText(request)]);
  const wellFormed = answers.filter(([, text]) => !String(text).includes("must not be empty"));
  expect(wellFormed.length).toBeGreaterThanOrEqual(6);
  expect(new Set(wellFormed.map((answer) => JSON.stringify(answer))).size).toBe(1);
  expect(wellFormed[0]?.[0]).toBe(true);
  expect(factsOfType(allFacts(await eventsNow(errand, own.id)), "message-sent")).toEqual([]);
  expect(factsOfType(allFacts(await eventsNow(errand, other.id)), "message-sent")).toEqual([]);
});

test("B10: what a run says after its end is refused and logged, and changes nothing", async () => {
  const speaking = gate();
  const { errand } = await openTestErrand({
    parent: byContext([delegationCall("background"), say("started"), say("told")]),
    child: () => speaking.passed.then(() => report("too late")),
  });
  const agent = await errand.openAgent();
  await agent.postAndAwait("go");
  const [run] = await errand.listRuns();
  const cancelled = errand.cancel(run?.id ?? "");
  speaking.open();
  expect(await cancelled).toBe(true);
  const events = await eventsUntil(errand, agent.id, turnsEnded(2));
  expect(factsOfType(allFacts(events.filter((event) => event.rejected === null)), "run-reported")).toEqual([]);
  expect((await errand.listRuns())[0]).toMatchObject({ status: "cancelled", report: "missing" });
  expect(await errand.result(run?.id ?? "")).toBe("");
});

test("B10: a reply of a model that does not heed its abort is logged as rejected, and changes nothing", async () => {
  const speaking = gate();
  const deaf: Model = {
    async call() {
      await speaking.passed;
      const input = { text: "too late" };
      return {
        parts: [{ type: "tool-call", id: "c1", name: "send_agent_message", input }],
        usage: null,
        stop: "tools",
      };
    },
  };
  const { errand } = await openTestErrand(
    { parent: [] },
    {
      models: [
        {
          resolve: (name) => {
            const model = name === "scripted/child" ? deaf : createScriptedModel(() => say("told"));
            return { model, facts: { window: null, price: null } };
          },
        },
      ],
    },
  );
  const agent = await errand.openAgent();
  const run = await agent.spawn({ task: "the task" });
  expect(await errand.cancel(run.id)).toBe(true);
  await eventsUntil(errand, agent.id, turnsEnded(1));
  const before = await errand.getRun(run.id);
  speaking.open();
  const events = await eventsUntil(errand, agent.id, (event) => event.rejected !== null);
  expect(events.at(-1)?.facts.map((fact) => fact.type)).toEqual(["model-replied"]);
  expect(JSON.stringify(events.at(-1))).not.toContain("too late");
  expect(await errand.getRun(run.id)).toEqual(before);
  expect(before).toMatchObject({ status: "cancelled", report: "missing", delivery: "placed" });
});

test("B10: a run that has ended accepts no message", async () => {
  const { errand, run, root } = await runDelegation("background", [report("x"), say("end")]);
  const child = await errand.agent(run.agent);
  await expect(child.post("one more", { id: "late" })).rejects.toMatchObject({ code: "agent-unknown" });
  const events = await eventsNow(errand, root);
  const logged = events.filter((event) => event.rejected !== null && event.facts[0]?.type === "message-posted");
  expect(logged).toHaveLength(1);
});

test("B11, scenario 9: a result for a closed parent is kept, listed as undeliverable and never retried", async () => {
  const world = createTestWorld();
  const working = gate();
  const { errand, models } = await openTestErrand(
    {
      parent: [delegationCall("background"), say("started"), say("unused")],
      child: (_request, { replies }) => (replies === 0 ? working.passed.then(() => report("kept")) : say("end")),
    },
    { world },
  );
  const agent = await errand.openAgent({ channel: createMemoryChannel() });
  await agent.postAndAwait("go");
  await agent.close();
  working.open();
  await eventsUntilFacts(errand, agent.id, "run-undeliverable");
  const [run] = await errand.listRuns();
  expect(run).toMatchObject({
    state: "ended",
    status: "ok",
    delivery: "undeliverable",
    undeliverable: "parent-closed",
  });
  expect(await errand.result(run?.id ?? "")).toBe("kept");
  const before = [models.requests.length, (await eventsNow(errand, agent.id)).length];
  await world.advance(60_000);
  expect([models.requests.length, (await eventsNow(errand, agent.id)).length]).toEqual(before);
  await expect(agent.post("hello?")).rejects.toMatchObject({ code: "agent-unknown" });
});

test("B11: a result that waited for its parent when that was closed is undeliverable, once", async () => {
  const { errand } = await openTestErrand({
    parent: (_request, { replies }) => (replies === 0 ? delegationCall("background") : hang()),
    child: byContext([report("kept too"), say("end")]),
  });
  const agent = await errand.openAgent();
  await agent.post("go");
  await eventsUntilFacts(errand, agent.id, "run-ended");
  expect((await errand.listRuns())[0]).toMatchObject({ delivery: "pending" });
  await agent.close();
  const [run] = await errand.listRuns();
  expect(run).toMatchObject({ delivery: "undeliverable", undeliverable: "parent-closed" });
  expect(await errand.result(run?.id ?? "")).toBe("kept too");
  expect(factsOfType(allFacts(await eventsNow(errand, agent.id)), "run-undeliverable")).toHaveLength(1);
});
