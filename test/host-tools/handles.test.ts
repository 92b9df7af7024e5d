/** Handles of the host tools: keys, restarts, a killed host, questions that are answered late. On both stores. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import type { ErrandOptions, HostRunOutput, HostTools } from "../../src/index.ts";
import { callTool, fail, hang, type Script } from "../../src/testing/index.ts";
import { openStoreAt } from "../../src/runtime/create-runtime.ts";
import { createDatabase } from "../support/postgres/databases.ts";
import { report } from "../support/scripted-replies.ts";
import { openTestErrand, temporaryStore } from "../support/test-errand.ts";

const PROGRAM = fileURLToPath(new URL("./host-program.ts", import.meta.url));

const stores = {
  SQLite: async () => temporaryStore(),
  PostgreSQL: async () => {
    const database = await createDatabase();
    onTestFinished(() => database.drop());
    return database.url;
  },
};

async function open(child: Script, options: Partial<ErrandOptions>) {
  const { errand, models } = await openTestErrand({ parent: () => fail(), child }, options);
  return { errand, models, tools: errand.hostTools({ agents: ["worker"], background: true }) };
}

async function ask(tools: HostTools, name: string, input: unknown): Promise<HostRunOutput> {
  return (await tools.call(name, input)).output as HostRunOutput;
}

const done: Script = () => report("done", { final: true });

describe.each(Object.entries(stores))("%s", (_name, makeStore) => {
  test("the same key gives the same run, also at the same time and after a restart", async () => {
    const store = await makeStore();
    const first = await open(done, { store });
    const start = (tools: HostTools, task = "Job.") => ask(tools, "subagent_start", { task, key: "k" });
    const started = await Promise.all([start(first.tools), start(first.tools), start(first.tools)]);
    const [{ run_id }] = started;
    expect(run_id).toEqual(expect.any(String));
    expect(new Set(started.map((output) => output.run_id))).toEqual(new Set([run_id]));
    expect(await ask(first.tools, "subagent_wait", { run_id })).toMatchObject({ status: "completed", summary: "done" });
    await first.errand.close();

    const second = await open(() => fail(), { store });
    expect(await start(second.tools)).toMatchObject({ run_id, status: "completed", summary: "done" });
    expect(await start(second.tools, "Another job.")).toMatchObject({ status: "refused", reason: "id-reused" });
    expect(await second.errand.listRuns()).toHaveLength(1);
    expect(second.models.model("scripted/child").requests).toHaveLength(0);
  });

  test("a question is answered late, by another process", async () => {
    const store = await makeStore();
    const child: Script = (_request, { replies }) =>
      replies === 0 ? callTool("look", {}) : report("done", { final: true });
    const first = await open(child, { store, permissions: [] });
    const { run_id, status } = await ask(first.tools, "subagent", { task: "Look." });
    expect(status).toBe("input_required");
    await first.errand.close();

    const second = await open(child, { store, permissions: [] });
    const [listed] = (await second.tools.list()).runs ?? [];
    expect(listed).toMatchObject({ run_id, status: "input_required" });
    const { questions: [question] = [] } = (await second.tools.look(run_id ?? "")).output;
    await ask(second.tools, "subagent_send", { run_id, question_id: question?.question_id, allow: true });
    expect(await ask(second.tools, "subagent_wait", { run_id })).toMatchObject({
      status: "completed",
      summary: "done",
    });
  });
});

test("a host that was killed finds its runs, which go on, and each result is there once", async () => {
  const store = temporaryStore();
  const host = spawn(process.execPath, [PROGRAM, store], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void host.kill("SIGKILL"));
  const exit = once(host, "exit");
  const [printed] = (await once(host.stdout, "data")) as [Buffer];
  host.kill("SIGKILL");
  expect((await exit)[1]).toBe("SIGKILL");
  const [one, two] = JSON.parse(printed.toString()) as [string, string];

  const { errand, tools, models } = await open(done, { store });
  expect(errand.recovered).toBe(2);
  expect((await tools.list()).runs?.map(({ run_id }) => run_id)).toEqual([two, one]);
  expect(await ask(tools, "subagent_start", { task: "Job one.", key: "one" })).toMatchObject({ run_id: one });
  for (const run_id of [one, two])
    expect(await ask(tools, "subagent_wait", { run_id })).toMatchObject({ status: "completed", summary: "done" });
  expect(models.model("scripted/child").requests).toHaveLength(2);
  for (const run of await errand.listRuns()) {
    const facts: string[] = [];
    for await (const line of errand.export(run.tree)) facts.push(line);
    expect(facts.filter((line) => line.includes('\\"type\\":\\"run-ended\\"'))).toHaveLength(1);
    expect((await errand.replay(run.tree)).difference).toBeNull();
  }
});

test("a call that waits when Errand is closed keeps its handle", async () => {
  const store = temporaryStore();
  const first = await open(() => hang(), { store });
  const calling = ask(first.tools, "subagent", { task: "Job." });
  await expect.poll(async () => (await first.errand.listRuns()).length).toBe(1);
  await first.errand.close({ withinMs: 0 });
  const left = await calling;
  expect(left).toMatchObject({ status: "working", run_id: expect.any(String), reason: "store-closed" });
  expect(left.error).toContain("The next process that opens the store goes on with it");
  const second = await open(done, { store });
  expect(await ask(second.tools, "subagent_wait", { run_id: left.run_id })).toMatchObject({ status: "completed" });
});

test("a run that cannot go on is told as quarantined at once", { timeout: 20_000 }, async () => {
  const path = temporaryStore();
  const first = await open(() => hang(), { store: path });
  const { run_id } = await ask(first.tools, "subagent_start", { task: "Look." });
  const { tree } = await first.errand.getRun(run_id ?? "");
  await first.errand.close({ withinMs: 0 });
  const store = await openStoreAt(path, "own");
  await store.markFailure(tree, true);
  await store.close();

  const second = await open(done, { store: path });
  expect(await ask(second.tools, "subagent_wait", { run_id })).toMatchObject({
    status: "quarantined",
    reason: "quarantined",
    error: expect.stringContaining("errand resume"),
  });
  expect((await second.tools.list()).runs).toMatchObject([{ run_id, status: "quarantined" }]);
});
