/** Runs of a whole Errand whose children are real programs: with a real store, and scripted models for the rest. */

import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import {
  createErrand,
  createSubprocessRunner,
  createSystemWorld,
  type Errand,
  type SpawnOptions,
} from "../../src/index.ts";
import type { Json } from "../../src/core/values/json.ts";
import { readProcessTable } from "../../src/processes/process-table.ts";
import { ownSeconds, processesWith, until } from "../../src/processes/supervised.test-support.ts";
import { createScriptedModels } from "../../src/testing/index.ts";
import { temporaryFolder, temporaryStore } from "../support/test-errand.ts";

vi.setConfig({ testTimeout: 120_000 });

const CHILD = join(import.meta.dirname, "children/behave.ts");
const SOURCES = join(import.meta.dirname, "../../src");
const KEY = "key-of-the-child-0123456789";
const environment = { ...process.env, CHILD_KEY: KEY };
/** The grace of the kernel, and what a busy machine adds. */
const GRACE_MS = 5_000;

function agentsFor(behaviour: string, more: { readonly [name: string]: Json } = {}) {
  const settings = { command: [process.execPath, CHILD, behaviour], ...more };
  return { orchestrator: { prompt: "" }, outer: { prompt: "Be brief.", runner: "subprocess", settings } };
}

async function openWith(
  behaviour: string,
  store: string,
  more: { readonly [name: string]: Json } = {},
): Promise<Errand> {
  const errand = await createErrand({
    store,
    model: "scripted/none",
    models: [createScriptedModels({ "scripted/none": [] })],
    runners: [createSubprocessRunner({ environment, world: createSystemWorld() })],
    agents: agentsFor(behaviour, more),
    workspace: temporaryFolder(),
  });
  onTestFinished(() => errand.close({ withinMs: 0 }));
  return errand;
}

async function startRun(errand: Errand, options: Partial<SpawnOptions> = {}) {
  const agent = await errand.openAgent();
  const seconds = ownSeconds();
  const run = await agent.spawn({ task: `sleep ${seconds}`, agent: "outer", announce: "none", ...options });
  return { agent, run, seconds, tree: agent.id };
}

function ownProcesses(): number {
  return readProcessTable().entries.filter(({ parent }) => parent === process.pid).length;
}

describe("runs whose children are programs", () => {
  test("a run ends ok with its result, nothing is left, and its tree is proven", async () => {
    const before = ownProcesses();
    const errand = await openWith("answer", temporaryStore());
    const { run, tree, seconds } = await startRun(errand);
    expect(await run.outcome()).toMatchObject({ status: "ok", summary: `done: sleep ${seconds}` });
    expect(await errand.getRun(run.id)).toMatchObject({ status: "ok", tokens: 25 });
    expect(ownProcesses()).toBe(before);
    expect(await errand.replay(tree)).toMatchObject({ difference: null });
  });

  test("a typed result and artifacts are in the outcome", async () => {
    const output = { type: "object", properties: { words: { type: "integer" } }, required: ["words"] };
    const typed = await startRun(await openWith("typed", temporaryStore()), { output });
    expect(await typed.run.outcome()).toMatchObject({ status: "ok", data: { words: 812 } });
    const made = await startRun(await openWith("artifacts", temporaryStore()));
    expect(await made.run.outcome()).toMatchObject({ artifacts: [{ kind: "path", value: "a.txt" }] });
  });

  test("data that do not fit are refused to the child, which mends its report", async () => {
    const output = { type: "object", properties: { words: { type: "integer" } }, required: ["words"] };
    const { run } = await startRun(await openWith("mend", temporaryStore()), { output });
    expect(await run.outcome()).toMatchObject({ status: "ok", data: { words: 3 } });
  });

  test.each([
    ["bad-json", "envelope-json"],
    ["wrong-version", "envelope-version"],
    ["oversize", "envelope-size"],
    ["endless", "envelope-size"],
    ["crash", "runner-died"],
    ["quiet", "runner-died"],
  ])("%s: the run fails with the reason %s", async (behaviour, reason) => {
    const before = ownProcesses();
    const { run, seconds } = await startRun(await openWith(behaviour, temporaryStore()));
    expect(await run.outcome()).toMatchObject({ status: "error", reason });
    await until(() => processesWith(seconds).length === 0 && ownProcesses() === before);
  });

  test("a program that is not installed fails the run as `runner-unavailable`", async () => {
    const errand = await openWith("answer", temporaryStore(), { command: ["no-such-program"] });
    const outcome = await (await startRun(errand)).run.outcome();
    expect(outcome).toMatchObject({ status: "error", reason: "runner-unavailable" });
    expect(outcome.error).toContain('no program "no-such-program"');
  });

  test("a silent child is `runner-hung` after its limit of silence", async () => {
    const { run } = await startRun(await openWith("silent", temporaryStore(), { silence_seconds: 1 }));
    expect(await run.outcome()).toMatchObject({ status: "error", reason: "runner-hung" });
  });

  test("I9: at its deadline a stubborn child times out, and nothing of it is left after the grace", async () => {
    const { run, seconds } = await startRun(await openWith("stubborn", temporaryStore()), { timeoutSeconds: 2 });
    await until(() => processesWith(`sleep\0${seconds}`).length > 0);
    expect(await run.outcome()).toMatchObject({ status: "timeout" });
    const ended = performance.now();
    await until(() => processesWith(seconds).length === 0);
    expect(performance.now() - ended).toBeLessThan(GRACE_MS + 5_000);
  });

  test("I19: a run that is cancelled ends, and nothing of it is left after the grace; a late result changes nothing", async () => {
    const errand = await openWith("obedient", temporaryStore());
    const { run, seconds, tree } = await startRun(errand);
    await until(() => processesWith(CHILD).length > 0);
    await errand.cancel(run.id);
    expect(await run.outcome()).toMatchObject({ status: "cancelled" });
    await until(() => processesWith(seconds).length === 0);
    expect(await errand.getRun(run.id)).toMatchObject({ status: "cancelled" });
    expect(await errand.replay(tree)).toMatchObject({ difference: null });
  });

  test("two at once do not hear each other", async () => {
    const errand = await openWith("answer", temporaryStore());
    const agent = await errand.openAgent();
    const tasks = ["first", "second"];
    const started = await Promise.all(tasks.map((task) => agent.spawn({ task, agent: "outer", announce: "none" })));
    const summaries = await Promise.all(started.map(async (run) => (await run.outcome()).summary));
    expect(summaries).toEqual(["done: first", "done: second"]);
  });

  test("a question that is answered late reaches the child", async () => {
    const errand = await openWith("ask", temporaryStore());
    const { run } = await startRun(errand, { timeoutSeconds: 60 });
    await expect.poll(async () => (await errand.questions()).length).toBe(1);
    const [question] = await errand.questions();
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    await errand.answer(question?.id ?? "", { text: "blue" });
    expect(await run.outcome()).toMatchObject({ status: "ok", summary: "answer q1: blue" });
  });

  test("I28: a key that the child was given and prints is not recorded", async () => {
    const store = temporaryStore();
    const errand = await openWith("surroundings", store, { env: ["CHILD_KEY"] });
    const { run } = await startRun(errand);
    const { summary } = await run.outcome();
    expect(summary).toContain("CHILD_KEY");
    expect(summary).not.toContain(KEY);
    await errand.close();
    expect(readFileSync(store).includes(KEY)).toBe(false);
  });
});

describe("when Errand is killed by SIGKILL while a child works", () => {
  /** Another process of Errand that starts a run, and prints its id once the child works. */
  async function killedWith(behaviour: string, more: { readonly [name: string]: Json }) {
    const store = temporaryStore();
    const folder = temporaryFolder();
    const file = join(folder, "owner.mjs");
    const seconds = ownSeconds();
    const program = `
      import { writeFileSync } from "node:fs";
      import { createErrand, createSubprocessRunner, createSystemWorld } from ${JSON.stringify(join(SOURCES, "index.ts"))};
      import { createScriptedModels } from ${JSON.stringify(join(SOURCES, "testing/index.ts"))};
      const errand = await createErrand({
        store: ${JSON.stringify(store)},
        model: "scripted/none",
        models: [createScriptedModels({ "scripted/none": [] })],
        runners: [createSubprocessRunner({ environment: process.env, world: createSystemWorld() })],
        agents: ${JSON.stringify(agentsFor(behaviour, more))},
        workspace: ${JSON.stringify(folder)},
      });
      const agent = await errand.openAgent();
      const { id } = await agent.spawn({ task: "sleep ${seconds}", agent: "outer", announce: "none" });
      writeFileSync(${JSON.stringify(join(folder, "run"))}, id);`;
    writeFileSync(file, program);
    const owner = spawn(process.execPath, [file], { stdio: "ignore", env: environment });
    onTestFinished(() => void owner.kill("SIGKILL"));
    await until(() => processesWith(`sleep\0${seconds}`).length > 0);
    // The start, and that it can be resumed, are recorded by then.
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    owner.kill("SIGKILL");
    return { store, seconds, run: readFileSync(join(folder, "run"), "utf8") };
  }

  test("a child that cannot be resumed is gone before its run is interrupted", async () => {
    const { store, seconds, run } = await killedWith("stubborn", {});
    const errand = await openWith("stubborn", store);
    await expect.poll(async () => (await errand.getRun(run)).status, { timeout: 30_000 }).toBe("interrupted");
    expect(processesWith(seconds)).toEqual([]);
    expect(await errand.getRun(run)).toMatchObject({ reason: "runner-lost" });
  });

  test("a child that can be resumed is started again, once the first one is gone", async () => {
    const { store, seconds, run } = await killedWith("patient", { resumable: true });
    const errand = await openWith("patient", store, { resumable: true });
    await expect.poll(async () => (await errand.getRun(run)).status, { timeout: 30_000 }).toBe("ok");
    expect(processesWith(seconds)).toEqual([]);
    expect(await errand.result(run)).toContain("attempt 2");
  });
});
