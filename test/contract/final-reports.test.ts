/** Rule B12: a final report ends its run without another model call. */

import { expect, test } from "vitest";
import type { Json } from "../../src/core/values/json.ts";
import { byContext, callTool, callTools, hang, say, type ScriptedReply } from "../../src/testing/index.ts";
import { newestUserText, occurrences, requestText, toolFailed, toolText } from "../support/model-requests.ts";
import { MODES, runDelegation } from "../support/run-delegation.ts";
import { report } from "../support/scripted-replies.ts";
import { eventsUntilFacts, factsOfType } from "../support/tree-facts.ts";
import { eventsUntil, lookTool, openTestErrand, temporaryStore, turnsEnded } from "../support/test-errand.ts";

type Call = { readonly name: string; readonly input: Json };

const send = (text: string, more: { readonly [name: string]: Json } = {}): Call => ({
  name: "send_agent_message",
  input: { text, ...more },
});
const final = (text: string, more: { readonly [name: string]: Json } = {}): Call =>
  send(text, { final: true, ...more });
const look: Call = { name: "look", input: {} };
const reply = (...calls: readonly Call[]): ScriptedReply => callTools(calls);

/** What a final report that is not final answers. */
function noteOf(text: string): string {
  const answer = JSON.parse(text) as { readonly status: string; readonly final: boolean; readonly note: string };
  expect(answer).toMatchObject({ status: "sent", report: true, final: false });
  expect(answer.note).toMatch(/end your turn; your run ends when/);
  return answer.note;
}

test.each(MODES)("B12: a final report ends the run in that step, without another model call (%s)", async (mode) => {
  const { child, run, delivered, events } = await runDelegation(mode, [reply(final("all of it"))]);
  expect(child).toHaveLength(1);
  expect(run).toMatchObject({ status: "ok", reason: null, report: "tool", nudged: false });
  expect(delivered).toContain("all of it");
  const step = events.find((event) => event.facts.some((fact) => fact.type === "run-reported"));
  expect(factsOfType(step?.facts ?? [], "run-ended")).toMatchObject([{ status: "ok", final: true }]);
});

test("B12: other calls of the reply are answered first, and the run ends with the last of them", async () => {
  const { child, run, delivered, events } = await runDelegation("awaited", [reply(final("all of it"), look)]);
  expect(child).toHaveLength(1);
  expect(run).toMatchObject({ status: "ok", report: "tool" });
  expect(JSON.parse(delivered)).toMatchObject({ success: true, summary: "all of it" });
  const seqOf = (type: string): number =>
    events.find((event) => event.facts.some((fact) => fact.type === type))?.seq ?? 0;
  expect(seqOf("tool-finished")).toBe(seqOf("run-ended"));
});

test("B12: the final report is the result wherever it stands in the reply", async () => {
  const { delivered, errand, run } = await runDelegation("awaited", [
    reply(send("first"), final("the result"), send("an afterthought")),
  ]);
  expect(JSON.parse(delivered)).toMatchObject({ summary: "the result" });
  expect(await errand.result(run.id)).toBe(
    "the result\n\nEarlier messages:\n\n[message 1]\nfirst\n\n[message 2]\nan afterthought",
  );
});

test("B12: with max_iterations 1 an obedient child succeeds", async () => {
  const { run, child } = await runDelegation("awaited", [reply(final("x"))], { args: { max_iterations: 1 } });
  expect(run.status).toBe("ok");
  expect(child).toHaveLength(1);
});

test("B12: a nudged child may report finally", async () => {
  const { run, child, delivered } = await runDelegation("background", [say("hm"), reply(final("late but whole"))]);
  expect(run).toMatchObject({ status: "ok", report: "tool", nudged: true });
  expect(child).toHaveLength(2);
  expect(delivered).toContain("late but whole");
});

test("B12: under announce each a final report is posted once, and the end is a silent line", async () => {
  const { errand, models } = await openTestErrand({
    parent: byContext([
      callTool("start_background_agent", { task: "x", announce: "each" }),
      say("started"),
      say("told"),
    ]),
    child: [reply(final("it came"))],
  });
  const agent = await errand.openAgent();
  await agent.post("go");
  await eventsUntil(errand, agent.id, turnsEnded(2));
  expect((await agent.postAndAwait("and?").catch(() => ({ text: "" }))).text).toBeDefined();
  const last = requestText(models.model("scripted/parent").requests.at(-1));
  expect(occurrences(last, "it came")).toBe(1);
  expect(occurrences(last, '"x" completed successfully.')).toBe(1);
});

test("B12: another call of the reply that fails makes it an ordinary report, and the answer says so", async () => {
  const tool = lookTool(async () => ({ text: "cannot see", failed: true }));
  const { child, run, delivered } = await runDelegation(
    "awaited",
    [reply(final("early"), look), reply(final("after a look"))],
    {
      tools: [tool],
    },
  );
  expect(child).toHaveLength(2);
  expect(noteOf(messageResults(child[1])[0] ?? "")).toContain("failed");
  expect(run.status).toBe("ok");
  expect(JSON.parse(delivered)).toMatchObject({ summary: "after a look" });
});

test.each([
  ["is refused, because there is no such tool", { name: "no_such_tool", input: {} }],
  ["has arguments that do not fit", { name: "send_user_message", input: { text: "" } }],
  ["has arguments that are not JSON", { name: "look", input: "{" }],
] as const)("B12: another call that %s makes it an ordinary report", async (_what, other) => {
  const { child, run } = await runDelegation("awaited", [reply(final("early"), other), say("end")]);
  expect(child).toHaveLength(2);
  noteOf(messageResults(child[1])[0] ?? "");
  expect(run).toMatchObject({ status: "ok", report: "tool" });
});

test("B12: a delegation in the same reply makes it an ordinary report", async () => {
  const { child, run } = await runDelegation(
    "awaited",
    (_request, { task, replies }) => {
      if (task === "deeper") return reply(final("deep"));
      return replies === 0 ? reply(final("early"), { name: "subagent", input: { task: "deeper" } }) : say("end");
    },
    { limits: { maxDepth: 2 } },
  );
  const own = child.filter((request) => request.system.includes(`child agent (id ${run.agent})`));
  expect(own).toHaveLength(2);
  expect(noteOf(messageResults(own[1])[0] ?? "")).toContain("child");
  expect(run).toMatchObject({ status: "ok", report: "tool" });
});

test("B12: with children open it is an ordinary report, and the run ends when they have ended", async () => {
  const { child, run, facts } = await runDelegation(
    "background",
    (_request, { task, replies }) => {
      if (task === "deeper") return reply(final("deep"));
      if (replies === 0) return callTool("start_background_agent", { task: "deeper" });
      return replies === 1 ? reply(final("early")) : say("NO_REPLY");
    },
    { limits: { maxDepth: 2 } },
  );
  const own = child.filter((request) => request.system.includes(`child agent (id ${run.agent})`));
  expect(own.some((request) => requestText(request).includes("children of yours"))).toBe(true);
  const ends = factsOfType(facts, "run-ended").map((fact) => fact.run);
  expect(ends).toEqual([2, 1]);
});

test("B12: a message that waits makes it an ordinary report", async () => {
  const arrived = Promise.withResolvers<void>();
  const posted = Promise.withResolvers<void>();
  const tool = lookTool(async () => {
    arrived.resolve();
    await posted.promise;
    return { text: "saw it", failed: false };
  });
  const { errand, models } = await openTestErrand(
    {
      parent: byContext([callTool("start_background_agent", { task: "x" }), say("started"), say("told")]),
      child: byContext([reply(look, final("early")), reply(final("with the answer"))]),
    },
    { tools: [tool] },
  );
  const agent = await errand.openAgent();
  await agent.post("go");
  await arrived.promise;
  const [run] = await errand.listRuns();
  await (await errand.agent(run?.agent ?? "")).post("and this?", { kind: "steer" });
  posted.resolve();
  await eventsUntil(errand, agent.id, turnsEnded(2));
  const child = models.model("scripted/child").requests;
  expect(child).toHaveLength(2);
  expect(requestText(child[1])).toContain("a message waits for you");
  expect(requestText(child[1])).toContain("and this?");
  expect(newestUserText(models.model("scripted/parent").requests.at(-1))).toContain("with the answer");
});

test("B12: a call whose outcome is unknown after a crash makes it an ordinary report", async () => {
  const store = temporaryStore();
  const hanging = [lookTool(() => new Promise(() => {}), false)];
  const parent = byContext([callTool("start_background_agent", { task: "x" }), say("started"), say("told")]);
  const first = await openTestErrand(
    { parent, child: byContext([reply(final("early"), look)]) },
    { store, tools: hanging },
  );
  const agent = await first.errand.openAgent();
  await agent.post("go");
  await eventsUntilFacts(first.errand, agent.id, "tool-called");
  await first.errand.close({ withinMs: 0 });
  const second = await openTestErrand({ parent, child: byContext([hang(), say("end")]) }, { store, tools: hanging });
  await eventsUntil(second.errand, agent.id, turnsEnded(2));
  const [request] = second.models.model("scripted/child").requests;
  const [answer = "", looked = ""] = messageResults(request);
  expect(noteOf(answer)).toContain("failed");
  expect(looked).toContain("outcome unknown");
  expect(await second.errand.listRuns()).toMatchObject([{ status: "ok", report: "tool" }]);
});

test("B12: a call that the user denies makes it an ordinary report", async () => {
  const { errand, models } = await openTestErrand(
    {
      parent: byContext([callTool("start_background_agent", { task: "x" }), say("started"), say("told")]),
      child: byContext([reply(final("early"), look), say("end")]),
    },
    { permissions: [{ decision: "ask", tool: "look" }] },
  );
  const agent = await errand.openAgent();
  await agent.post("go");
  await eventsUntilFacts(errand, agent.id, "question-asked");
  const [question] = await errand.questions();
  await errand.answer(question?.id ?? "", { allow: false });
  await eventsUntil(errand, agent.id, turnsEnded(2));
  const child = models.model("scripted/child").requests;
  expect(child).toHaveLength(2);
  noteOf(messageResults(child[1])[0] ?? "");
});

test("B12: data that do not fit refuse the report, final or not, and the child can mend it", async () => {
  const schema = JSON.stringify({ type: "object", properties: { n: { type: "integer" } }, required: ["n"] });
  const { child, delivered } = await runDelegation(
    "awaited",
    [reply(final("wrong", { data: { n: "many" } })), reply(final("right", { data: { n: 3 } }))],
    { args: { output_schema: schema } },
  );
  expect(child).toHaveLength(2);
  expect(toolFailed(child[1])).toBe(true);
  expect(toolText(child[1])).toContain("`data.n`");
  expect(JSON.parse(delivered)).toMatchObject({ success: true, summary: "right", data: { n: 3 } });
});

test("B12: final is refused to anybody but the parent, and in a run that reports by tag", async () => {
  const other = await runDelegation("awaited", (request, { replies }) => {
    const own = /\(id ([0-9a-f-]{36})\) working/.exec(request.system)?.[1] ?? "";
    return replies === 0 ? reply(final("to myself", { agentId: own })) : reply(final("x"));
  });
  expect(toolFailed(other.child[1])).toBe(true);
  expect(toolText(other.child[1])).toContain("`final` is only for a report to your parent");
  const tag = await runDelegation("awaited", [reply(final("x")), say("<response>y</response>")], {
    child: { reporting: "tag" },
  });
  expect(toolFailed(tag.child[1])).toBe(true);
  expect(toolText(tag.child[1])).toContain("you report in <response> tags");
  expect(JSON.parse(tag.delivered)).toMatchObject({ success: true, summary: "y", report: "tag" });
});

test("B12: a final report whose other call never ends is the findings of the timeout", async () => {
  const tool = lookTool(() => new Promise(() => {}));
  const { run, delivered } = await runDelegation("awaited", [reply(final("early"), look)], {
    tools: [tool],
    args: { timeout_seconds: 1 },
  });
  expect(run).toMatchObject({ status: "timeout", reason: "deadline", report: "tool" });
  expect(JSON.parse(delivered)).toMatchObject({ success: false, timed_out: true, summary: "early" });
});

test("B12: a hang after a final report cannot happen: nothing is called", async () => {
  const { run, child } = await runDelegation("background", [reply(final("x")), hang()]);
  expect(run.status).toBe("ok");
  expect(child).toHaveLength(1);
});

test("an ordinary report is followed by a closing call, in which a model may continue to work", async () => {
  const { child, delivered } = await runDelegation("awaited", [report("so far"), report("all"), say("end")]);
  expect(child).toHaveLength(3);
  expect(JSON.parse(delivered)).toMatchObject({ summary: "all" });
});

/** The texts of the newest tool results, in call order. */
function messageResults(request: Parameters<typeof toolText>[0]): readonly string[] {
  const message = request?.messages.findLast((given) => given.role === "tool");
  return message?.role === "tool" ? message.results.map((result) => result.text) : [];
}
