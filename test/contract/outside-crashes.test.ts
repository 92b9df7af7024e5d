/** Outside children whose process goes away: resumed where the runner can, else interrupted once nothing runs. */

import { expect, test } from "vitest";
import { createScriptedRunner, type RunnerScript, say } from "../../src/testing/index.ts";
import { parentRequests, toolJson } from "../support/model-requests.ts";
import { openOutside, type OutsideOptions, outsideParent, withRunner } from "../support/outside-errand.ts";
import { gate } from "../support/scripted-replies.ts";
import { allFacts, eventsNow, eventsUntilFacts, factsOfType } from "../support/tree-facts.ts";
import { eventsUntil, openTestErrand, temporaryStore, turnsEnded } from "../support/test-errand.ts";

const forever = (): Promise<void> => new Promise(() => {});

/** A tree whose outside child was working when its process went away. */
async function leftBehind(
  script: RunnerScript,
  until: Parameters<typeof eventsUntilFacts>[2],
  how: OutsideOptions = {},
) {
  const store = temporaryStore();
  const first = await openOutside(script, outsideParent(), { store, ...how });
  const agent = await first.errand.openAgent();
  await agent.post("go");
  await eventsUntilFacts(first.errand, agent.id, until);
  await first.errand.close({ withinMs: 0 });
  return { store, tree: agent.id, first };
}

const steps: RunnerScript = ({ events }) => {
  events.progress({ text: "half way" });
  events.resumable("session-7");
  return forever();
};

test("a runner that cannot resume: the run is interrupted, only after nothing of it runs any more", async () => {
  const { store, tree, first } = await leftBehind(steps, "runner-progressed");
  expect(first.runner.sessions[0]?.stopped.aborted).toBe(true);
  const { passed, open } = gate();
  const asked: unknown[] = [];
  const gone = (earlier: unknown): Promise<void> => {
    asked.push(earlier);
    return passed;
  };
  const second = await openOutside(forever, [say("heard of it")], { store, runner: { gone } });
  await expect.poll(() => asked.length).toBe(1);
  expect((await second.errand.listRuns())[0]).toMatchObject({ state: "running" });
  open();
  await eventsUntil(second.errand, tree, turnsEnded(1));
  const [run] = await second.errand.listRuns();
  expect(asked).toEqual([
    { tree, run: run?.id, attempts: 1, settings: { origin: "code", value: { command: "true" } } },
  ]);
  expect(run).toMatchObject({ status: "interrupted", reason: "runner-lost" });
  expect(second.runner.sessions).toEqual([]);
  expect(toolJson(parentRequests(second.models)[0])).toMatchObject({
    success: false,
    reason: "runner-lost",
    error: "the process that ran it is gone, and its runner cannot resume",
    summary: "half way",
    report: "salvaged",
  });
  expect(await second.errand.replay(tree)).toMatchObject({ difference: null });
});

test("a runner that can resume goes on with the newest token, under the next attempt", async () => {
  const { store, tree } = await leftBehind(
    ({ events }) => {
      events.resumable("session-6");
      events.resumable("session-7");
      events.progress({ text: "half way", usage: { input: 100, output: 10 } });
      events.report({ text: "half of it" });
      return forever();
    },
    "run-reported",
    { runner: { resumes: true } },
  );
  const second = await openOutside(
    ({ events }) => {
      events.progress({ usage: { input: 50, output: 5 } });
      events.ended({ status: "ok", report: { text: "all of it" } });
    },
    [say("heard of it")],
    { store, runner: { resumes: true } },
  );
  await eventsUntil(second.errand, tree, turnsEnded(1));
  expect(second.runner.sessions).toMatchObject([{ token: "session-7", request: { attempt: 2, task: "the task" } }]);
  expect(toolJson(parentRequests(second.models)[0])).toMatchObject({ success: true, summary: "all of it" });
  expect((await second.errand.listRuns())[0]).toMatchObject({ tokens: 165 });
  expect(factsOfType(allFacts(await eventsNow(second.errand, tree)), "run-ended")).toHaveLength(1);
  expect(await second.errand.replay(tree)).toMatchObject({ difference: null });
});

test("without a token the run is interrupted, even if its runner can resume", async () => {
  const { store, tree } = await leftBehind(forever, "runner-started", { runner: { resumes: true } });
  const second = await openOutside(forever, [say("heard of it")], { store, runner: { resumes: true } });
  await eventsUntil(second.errand, tree, turnsEnded(1));
  expect((await second.errand.listRuns())[0]).toMatchObject({ status: "interrupted", reason: "runner-lost" });
});

test("a question waits through a restart, and its answer reaches the resumed session", async () => {
  const ask: RunnerScript = async ({ events, next }) => {
    events.resumable("session-7");
    events.question({ id: "q", text: "Which floor?" });
    const message = await next();
    events.ended({ status: "ok", report: { text: message.type === "answer" ? `floor ${message.text}` : "?" } });
  };
  const { store, tree } = await leftBehind(ask, "question-asked", { runner: { resumes: true } });
  const second = await openOutside(ask, [say("heard of it")], { store, runner: { resumes: true } });
  await expect.poll(() => second.runner.sessions.length).toBe(1);
  const questions = await second.errand.questions();
  expect(questions).toHaveLength(1);
  await second.errand.answer(questions[0]?.id ?? "", { text: "the third" });
  await eventsUntil(second.errand, tree, turnsEnded(1));
  expect(toolJson(parentRequests(second.models)[0])).toMatchObject({ success: true, summary: "floor the third" });
});

test("a tree whose process lacks the runner is not taken, and its record says what is missing", async () => {
  const { store, tree } = await leftBehind(steps, "runner-progressed");
  const lacking = await openTestErrand({ parent: [] }, { store, onNotice: () => undefined });
  await expect
    .poll(async () => (await lacking.errand.listTrees())[0]?.unplaced)
    .toContain('needs the runner "scripted", which is not installed');
  await lacking.errand.close();
  const able = await openOutside(forever, [say("heard of it")], { store });
  await eventsUntil(able.errand, tree, turnsEnded(1));
  expect((await able.errand.listTrees())[0]).toMatchObject({ unplaced: null });
});

test("settings that only the journal has are not used: the run ends as `runner-unavailable`", async () => {
  const { store, tree } = await leftBehind(steps, "runner-progressed", { runner: { resumes: true } });
  const runner = createScriptedRunner(forever, { resumes: true });
  const options = withRunner(runner);
  const { orchestrator = { prompt: "" } } = options.agents ?? {};
  const agents = { orchestrator };
  const second = await openTestErrand({ parent: [say("heard of it")] }, { ...options, agents, store });
  await eventsUntil(second.errand, tree, turnsEnded(1));
  expect(runner.sessions).toEqual([]);
  expect((await second.errand.listRuns())[0]).toMatchObject({ status: "error", reason: "runner-unavailable" });
});

test("a fork interrupts the outside child in its own tree, and leaves the session of the origin alone", async () => {
  const store = temporaryStore();
  const { errand, runner } = await openOutside(steps, outsideParent("background"), { store });
  const agent = await errand.openAgent();
  await agent.post("go");
  const events = await eventsUntilFacts(errand, agent.id, "runner-progressed");
  const fork = await errand.fork(agent.id, { at: events.at(-1)?.seq ?? 1 });
  await eventsUntilFacts(errand, fork.id, "run-ended");
  const runs = await errand.listRuns();
  expect(runs.map(({ tree, status, reason }) => [tree === fork.id, status, reason])).toEqual([
    [true, "interrupted", "forked"],
    [false, null, null],
  ]);
  expect(runner.sessions).toHaveLength(1);
  expect(runner.sessions[0]?.stopped.aborted).toBe(false);
});
