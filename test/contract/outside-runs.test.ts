/** Children whose turns are executed outside, by a runner: their runs are like any other (rules F2, F6, F9, F10). */

import { expect, test } from "vitest";
import {
  byContext,
  callTool,
  createMemoryChannel,
  type RunnerScript,
  say,
  type Script,
} from "../../src/testing/index.ts";
import { newestUserText, parentRequests, toolJson } from "../support/model-requests.ts";
import { openOutside, outsideParent, outsidePayload } from "../support/outside-errand.ts";
import { delegationCall } from "../support/run-delegation.ts";
import { allFacts, eventsNow, eventsUntilFacts, factsOfType } from "../support/tree-facts.ts";
import { eventsUntil, turnsEnded } from "../support/test-errand.ts";
import { createTestWorld } from "../support/test-world.ts";

const done: RunnerScript = ({ events }) => events.ended({ status: "ok", report: { text: "found it" } });
const forever = (): Promise<void> => new Promise(() => {});

test("the child gets its task, its limits and its settings, and its result is the parent's payload", async () => {
  const { answer, runner, errand, agent, models } = await outsidePayload(
    ({ events }) => {
      events.ended({
        status: "ok",
        report: { text: "found it", artifacts: [{ kind: "path", value: "src/a.ts" }] },
        usage: { input: 100, output: 20 },
      });
    },
    { task: "look for it", context: "in the cellar", files: ["a.ts"], max_iterations: 3, timeout_seconds: 60 },
  );
  expect(answer).toMatchObject({
    success: true,
    summary: "found it",
    artifacts: [{ kind: "path", value: "src/a.ts" }],
    timed_out: false,
    report: "tool",
    nudged: false,
  });
  const [run] = await errand.listRuns();
  expect(run).toMatchObject({ status: "ok", tokens: 120, delivery: "placed" });
  expect(runner.sessions.map(({ request }) => request)).toEqual([
    {
      run: run?.id,
      attempt: 1,
      tree: agent.id,
      agent: run?.agent,
      prompt: "Be brief.",
      task: "look for it",
      context: "in the cellar",
      files: ["a.ts"],
      limits: { timeoutSeconds: 60, iterations: 3, summaryBytes: 32_768, graceSeconds: 5 },
      outputSchema: null,
      workspace: process.cwd(),
      settings: { origin: "code", value: { command: "true" } },
    },
  ]);
  expect(models.model("scripted/child").requests).toEqual([]);
  expect(await errand.replay(agent.id)).toMatchObject({ difference: null });
});

test("a background run is announced like any other", async () => {
  const { errand, models } = await openOutside(done, outsideParent("background"));
  const channel = createMemoryChannel();
  const agent = await errand.openAgent({ channel });
  await agent.post("go");
  await eventsUntil(errand, agent.id, turnsEnded(2));
  expect(newestUserText(parentRequests(models).at(-1))).toContain("found it");
  expect((await errand.listRuns())[0]).toMatchObject({ status: "ok", delivery: "placed" });
});

test("D1: `announce: each` posts every report at once", async () => {
  const { errand, models } = await openOutside(
    async ({ events, next }) => {
      events.report({ text: "the first half" });
      await next();
      events.ended({ status: "ok", report: { text: "the second half" } });
    },
    outsideParent("background", { announce: "each" }),
  );
  const agent = await errand.openAgent();
  await agent.post("go");
  await eventsUntil(errand, agent.id, turnsEnded(2));
  await agent.postAndAwait("and?");
  const texts = JSON.stringify(parentRequests(models).at(-1));
  expect(texts).toContain("the first half");
  expect(texts).toContain("the second half");
});

test.each([
  ["runner-unavailable", "its command is missing"],
  ["envelope-json", "line 3 is no JSON"],
  ["envelope-version", "it speaks version 2"],
  ["envelope-size", "it sent 5 MiB"],
  ["runner-died", "it ended with exit code 3"],
  ["runner-hung", "it did not greet"],
] as const)("F9: the failure %s is the reason of the payload, with its words", async (code, error) => {
  const { answer } = await outsidePayload(({ events }) => events.ended({ status: "failed", code, error }));
  expect(answer).toMatchObject({ success: false, reason: code, error, timed_out: false, report: "missing" });
});

test("a child that says it failed ends its run as `runner-failed`, with its report as findings", async () => {
  const { answer } = await outsidePayload(({ events }) =>
    events.ended({ status: "error", error: "no access", report: { text: "I read half of it" } }),
  );
  expect(answer).toMatchObject({ success: false, reason: "runner-failed", error: "no access" });
  expect(answer).toMatchObject({ summary: "I read half of it", report: "tool" });
});

test("a script that says nothing has died, and what it did last is salvaged", async () => {
  const { answer } = await outsidePayload(({ events }) => events.progress({ text: "I opened the cellar" }));
  expect(answer).toMatchObject({ reason: "runner-died", summary: "I opened the cellar", report: "salvaged" });
});

test("a runner that is unavailable starts nothing", async () => {
  const { answer, runner } = await outsidePayload(done, {}, { runner: { unavailable: () => "claude is missing" } });
  expect(answer).toMatchObject({ success: false, reason: "runner-unavailable", error: "claude is missing" });
  expect(runner.sessions).toEqual([]);
});

test("B6: an end without a report is `ok` and reported as missing; there is no nudge", async () => {
  const { answer } = await outsidePayload(({ events }) => events.ended({ status: "ok" }));
  expect(answer).toMatchObject({ success: true, summary: "(no output)", report: "missing", nudged: false });
});

const schema = JSON.stringify({ type: "object", properties: { words: { type: "integer" } }, required: ["words"] });

test("F10: data that do not fit are told to the child, which can mend them", async () => {
  const { answer, runner } = await outsidePayload(
    async ({ events, next }) => {
      events.report({ text: "counted", data: { words: "many" } });
      const message = await next();
      if (message.type === "report-refused") events.report({ text: "counted", data: { words: 812 } });
      await next();
      events.ended({ status: "ok" });
    },
    { output_schema: schema },
  );
  expect(answer).toMatchObject({ success: true, summary: "counted", data: { words: 812 } });
  const [session] = runner.sessions;
  expect(session?.request.outputSchema).toEqual(JSON.parse(schema));
  expect(session?.told).toEqual([
    { type: "report-refused", problem: expect.stringContaining("words") },
    { type: "report-accepted" },
  ]);
});

test.each<readonly [string, RunnerScript, readonly ("answer" | "report-accepted")[]]>([
  ["that cannot be told", ({ events }) => events.report({ text: "x", data: { words: "many" } }), ["answer"]],
  [
    "that has ended",
    ({ events }) => events.ended({ status: "ok", report: { text: "x", data: { words: "many" } } }),
    ["answer"],
  ],
])("F10: data that do not fit, from a child %s, end the run as invalid-output", async (_which, script, takes) => {
  const { answer } = await outsidePayload(script, { output_schema: schema }, { runner: { takes } });
  expect(answer).toMatchObject({ success: false, reason: "invalid-output", error: expect.stringContaining("words") });
});

test("F10: a typed run whose child gave no data ends as invalid-output", async () => {
  const { answer } = await outsidePayload(({ events }) => events.ended({ status: "ok" }), { output_schema: schema });
  expect(answer).toMatchObject({ success: false, reason: "invalid-output" });
});

test("F2: artifacts of a kind that is not allowed are invalid output", async () => {
  const { answer } = await outsidePayload(
    ({ events }) => events.ended({ status: "ok", report: { text: "x", artifacts: [{ kind: "diff", value: "" }] } }),
    {},
    { artifactKinds: ["note"] },
  );
  expect(answer).toMatchObject({ reason: "invalid-output", error: expect.stringContaining("artifacts[0].kind") });
});

test("a deadline stops the session; a result that comes later is recorded and changes nothing", async () => {
  const world = createTestWorld();
  let late: (() => void) | null = null;
  const { errand, models, runner } = await openOutside(
    ({ events }) => {
      events.progress({ text: "working" });
      late = () => events.ended({ status: "ok", report: { text: "too late" } });
      return forever();
    },
    outsideParent("awaited", { timeout_seconds: 30 }),
    { world, runner: { stops: false } },
  );
  const agent = await errand.openAgent();
  await agent.post("go");
  await world.advance(31_000);
  expect(runner.sessions[0]?.stopped.aborted).toBe(true);
  expect((await errand.listRuns())[0]).toMatchObject({ status: "timeout", reason: "deadline" });
  (late as (() => void) | null)?.();
  await world.advance(1_000);
  const events = await eventsNow(errand, agent.id);
  expect(events.at(-1)).toMatchObject({ rejected: "no such session is open", facts: [{ type: "runner-ended" }] });
  expect(JSON.stringify(events)).not.toContain("too late");
  expect(JSON.stringify(parentRequests(models))).not.toContain("too late");
  expect(await errand.replay(agent.id)).toMatchObject({ difference: null });
});

test("a cancelled run stops its session", async () => {
  const { errand, runner } = await openOutside(forever, outsideParent("background"));
  const agent = await errand.openAgent();
  await agent.post("go");
  await eventsUntilFacts(errand, agent.id, "runner-started");
  const [run] = await errand.listRuns();
  expect(await errand.cancel(run?.id ?? "")).toBe(true);
  await eventsUntilFacts(errand, agent.id, "run-ended");
  expect((await errand.listRuns())[0]).toMatchObject({ status: "cancelled" });
  await expect.poll(() => runner.sessions[0]?.stopped.aborted).toBe(true);
});

test("usage counts against the tree's budget: the run that uses it up ends", async () => {
  const { errand } = await openOutside(
    ({ events }) => {
      events.progress({ text: "reading", usage: { input: 1_000, output: 10 } });
      events.progress({ text: "reading on", usage: { input: 60_000, output: 10 } });
      return forever();
    },
    outsideParent("background"),
    { limits: { tokensPerTree: 50_000 } },
  );
  const agent = await errand.openAgent();
  await agent.post("go");
  await eventsUntilFacts(errand, agent.id, "run-ended");
  expect((await errand.listRuns())[0]).toMatchObject({ status: "error", reason: "token-limit", tokens: 60_010 });
});

test("iterations that the child reports are limited", async () => {
  const { answer } = await outsidePayload(
    ({ events }) => {
      events.progress({ iterations: 5 });
      return forever();
    },
    { max_iterations: 4 },
  );
  expect(answer).toMatchObject({ success: false, reason: "iteration-limit" });
});

test("progress is recorded at most every two seconds, on one line, and without escape sequences", async () => {
  const world = createTestWorld();
  const { errand } = await openOutside(
    ({ events }) => {
      events.progress({ text: "first\u001b[31m line\nand more" });
      for (let number = 0; number < 1_000; number += 1) events.progress({ text: `step ${number}` });
      return forever();
    },
    outsideParent("background"),
    { world },
  );
  const agent = await errand.openAgent();
  await agent.post("go");
  await world.advance(10_000);
  const texts = (await eventsNow(errand, agent.id)).flatMap((event) =>
    event.facts.some(({ type }) => type === "runner-progressed") ? [event.texts[0]] : [],
  );
  expect(texts).toEqual(["first line and more", "step 999"]);
});

test("a steer reaches the child; one that cannot be told refuses it", async () => {
  const steering: Script = (request, { replies }) => {
    if (replies === 0) return delegationCall("background", { agent: "outer" });
    if (replies > 1) return say("steered");
    return callTool("steer_run", { run_id: String(toolJson(request)["run_id"]), text: "look in the attic" });
  };
  const script: RunnerScript = async ({ events, next }) => {
    const message = await next();
    events.ended({ status: "ok", report: { text: JSON.stringify(message) } });
  };
  const told = await openOutside(script, steering);
  const agent = await told.errand.openAgent();
  await agent.post("go");
  await eventsUntilFacts(told.errand, agent.id, "run-ended");
  expect(told.runner.sessions[0]?.told).toEqual([
    { type: "steer", text: expect.stringContaining("look in the attic") },
  ]);

  const deaf = await openOutside(() => forever(), steering, { runner: { takes: [] } });
  const other = await deaf.errand.openAgent();
  await other.post("go");
  await eventsUntil(deaf.errand, other.id, turnsEnded(1));
  expect(JSON.stringify(parentRequests(deaf.models).at(-1))).toContain("takes no messages");
});

test("what the child asks waits for words of the user, and its clock stands still meanwhile", async () => {
  const world = createTestWorld();
  const channel = createMemoryChannel();
  const { errand, runner } = await openOutside(
    async ({ events, next }) => {
      events.question({ id: "q1", text: "Which floor?" });
      const message = await next();
      events.ended({ status: "ok", report: { text: message.type === "answer" ? `floor ${message.text}` : "?" } });
    },
    outsideParent("awaited", { timeout_seconds: 60 }),
    { world },
  );
  const agent = await errand.openAgent({ channel });
  await agent.post("go");
  await world.advance(10_000);
  const [question] = await errand.questions();
  expect(question).toMatchObject({ tool: "child_question", input: { text: "Which floor?" }, who: "the task" });
  expect(channel.messages.at(-1)).toMatchObject({ id: question?.id, text: '"the task" asks: Which floor?' });
  expect((await errand.listRuns())[0]).toMatchObject({ state: "needs_input", deadline: null });
  await world.advance(3_600_000);
  const id = question?.id ?? "";
  const yes = errand.answer(id, { allow: true }).catch((error: unknown) => error);
  await world.advance(1);
  expect(await yes).toMatchObject({ code: "answer-unfit" });
  const answered = errand.answer(id, { text: "the third" });
  await world.advance(1);
  await answered;
  await world.advance(100);
  expect(runner.sessions[0]?.told).toEqual([{ type: "answer", question: "q1", text: "the third" }]);
  expect((await errand.listRuns())[0]).toMatchObject({ status: "ok" });
  expect(await errand.replay(agent.id)).toMatchObject({ difference: null });
});

test("an answer is one of the choices, and a refusal is told as no answer", async () => {
  const { errand, runner } = await openOutside(async ({ events, next }) => {
    events.question({ id: "a", text: "May I?", choices: ["once", "never"] });
    await next();
    events.question({ id: "b", text: "And now?" });
    await next();
    events.ended({ status: "ok", report: { text: "asked" } });
  }, outsideParent("background"));
  const agent = await errand.openAgent();
  await agent.post("go");
  await eventsUntilFacts(errand, agent.id, "question-asked");
  const [first] = await errand.questions();
  await expect(errand.answer(first?.id ?? "", { text: "always" })).rejects.toMatchObject({ code: "answer-unfit" });
  await errand.answer(first?.id ?? "", { text: "once" });
  await eventsUntilFacts(errand, agent.id, "question-asked", 2);
  const [second] = await errand.questions();
  await errand.answer(second?.id ?? "", { allow: false });
  await eventsUntilFacts(errand, agent.id, "run-ended");
  expect(runner.sessions[0]?.told).toEqual([
    { type: "answer", question: "a", text: "once" },
    { type: "answer", question: "b", text: null },
  ]);
});

test("secrets of a session are removed from everything it says", async () => {
  const secret = "a-very-secret-key";
  const { errand, agent } = await outsidePayload(
    async ({ events, next }) => {
      events.progress({ text: `using ${secret}` });
      events.report({ text: `the key is ${secret}`, artifacts: [{ kind: "note", value: secret }] });
      await next();
      events.ended({ status: "error", error: `bad key ${secret}` });
    },
    {},
    { runner: { secrets: () => [secret] } },
  );
  expect(JSON.stringify(await eventsNow(errand, agent.id))).not.toContain(secret);
});

test("two sessions at once do not hear of each other", async () => {
  const parent = byContext([
    delegationCall("background", { agent: "outer", task: "one" }),
    delegationCall("background", { agent: "outer", task: "two" }),
    say("started"),
    say("told"),
    say("told again"),
  ]);
  const { errand } = await openOutside(async ({ request, events, next }) => {
    events.report({ text: `half of ${request.task}` });
    await next();
    events.ended({ status: "ok", report: { text: `all of ${request.task}` } });
  }, parent);
  const agent = await errand.openAgent();
  await agent.post("go");
  await eventsUntilFacts(errand, agent.id, "run-ended", 2);
  const runs = await errand.listRuns();
  const results = await Promise.all(runs.map(async ({ id, name }) => [name, await errand.result(id)]));
  for (const [name, result] of results) expect(result).toContain(`all of ${name}`);
});

test("a runner that gives nonsense ends its run, and harms nothing else", async () => {
  const nonsense = new Proxy(
    {},
    {
      get: () => {
        throw new Error("no");
      },
    },
  ) as never;
  const { answer, errand, agent } = await outsidePayload(({ events }) => {
    events.progress(nonsense);
    events.question(nonsense);
    events.resumable(7 as never);
    events.report(nonsense);
    events.ended(nonsense);
    events.ended({ status: "ok", report: { text: "a second end" } });
  });
  expect(answer).toMatchObject({ success: false, reason: "runner-died" });
  expect(JSON.stringify(allFacts(await eventsNow(errand, agent.id)))).not.toContain("second end");
});

test("a definition with a runner cannot be a root, nor have tools of its own", async () => {
  const { errand } = await openOutside(done, outsideParent());
  await expect(errand.openAgent({ agent: "outer" })).rejects.toMatchObject({ code: "definition-invalid" });
  await expect(openOutside(done, outsideParent(), { outer: { tools: [] } })).rejects.toMatchObject({
    code: "definition-invalid",
    message: expect.stringContaining("`tools` is not for an agent with a runner"),
  });
  await expect(openOutside(done, outsideParent(), { outer: { runner: "other" } })).rejects.toMatchObject({
    message: expect.stringContaining('there is no runner "other" (known: scripted)'),
  });
  await expect(
    openOutside(done, outsideParent(), { runner: { check: () => "`command` is missing" } }),
  ).rejects.toMatchObject({ message: expect.stringContaining("`command` is missing") });
});

test("a task with an output schema may be given to an outside agent itself", async () => {
  const { errand } = await openOutside(
    ({ events }) => events.ended({ status: "ok", report: { text: "counted", data: { words: 3 } } }),
    outsideParent(),
  );
  const { data } = await errand.run("count", { agent: "outer", output: JSON.parse(schema) });
  expect(data).toEqual({ words: 3 });
});

test("a rule that denies the runner refuses the run, and nothing is started", async () => {
  const { answer, runner } = await outsidePayload(
    done,
    {},
    { permissions: [{ decision: "deny", tool: "runner:scripted" }] },
  );
  expect(answer).toMatchObject({ success: false, reason: "refused", run_id: null });
  expect(runner.sessions).toEqual([]);
});

test("erased texts: `cleanup: delete` leaves no word of the child but its result", async () => {
  const { errand } = await openOutside(
    async ({ events, next }) => {
      events.progress({ text: "a secret step" });
      events.question({ id: "q", text: "a secret question" });
      await next();
      events.ended({ status: "ok", report: { text: "the result" } });
    },
    outsideParent("background", { cleanup: "delete" }),
  );
  const agent = await errand.openAgent();
  await agent.post("go");
  await eventsUntilFacts(errand, agent.id, "question-asked");
  const [question] = await errand.questions();
  await errand.answer(question?.id ?? "", { text: "a secret answer" });
  const events = await eventsUntilFacts(errand, agent.id, "texts-erased");
  expect(factsOfType(allFacts(events), "texts-erased")).toHaveLength(1);
  const left = JSON.stringify(await eventsNow(errand, agent.id));
  expect(left).not.toContain("a secret step");
  expect(left).not.toContain("a secret question");
  expect(left).toContain("the result");
  expect((await errand.replay(agent.id)).difference).toBeNull();
});
