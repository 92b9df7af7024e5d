/** Which stores of a project `errand mcp` reads, owns and lets go. */

import { getEventListeners } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { createProjectHosts } from "../../src/cli/commands/mcp/project-hosts.ts";
import { projectFile } from "../../src/cli/store/scope.ts";
import { joinHostTools } from "../../src/host-tools/join-host-tools.ts";
import { createErrand, type Errand, type HostRunOutput, type HostTools } from "../../src/index.ts";
import { openStoreAt } from "../../src/runtime/create-runtime.ts";
import { createSystemWorld } from "../../src/runtime/world.ts";
import { createScriptedModels, gate, hang, report, type Script } from "../../src/testing/index.ts";
import { temporaryFolder } from "../support/test-errand.ts";

const TOOLS = { background: true, agents: ["worker"] };

/** A project whose other stores are those of servers before. Children follow the newest script. */
function openProject() {
  const root = temporaryFolder();
  const folder = join(root, "stores");
  mkdirSync(folder);
  const notices: string[] = [];

  async function open(store: string, script: Script): Promise<Errand> {
    const models = createScriptedModels({ "scripted/child": script });
    const errand = await createErrand({ store, model: "scripted/child", models: [models], onFailure: () => undefined });
    onTestFinished(() => errand.close({ withinMs: 0 }));
    return errand;
  }

  async function hostsOf(script: Script, own = projectFile(folder, 9)) {
    const hosts = createProjectHosts({
      scope: { kind: "project", project: root, folder },
      own,
      host: { world: createSystemWorld(), err: (text) => void notices.push(text) },
      open: (store) => open(store, script),
      tools: TOOLS,
      agents: [{ name: "worker", description: "" }],
    });
    onTestFinished(() => hosts.close(0));
    return hosts;
  }
  return { other: projectFile(folder, 1), folder, open, hostsOf, notices };
}

async function ask(tools: HostTools | undefined, name: string, input: unknown): Promise<HostRunOutput> {
  if (tools === undefined) throw new Error("there is no other store");
  return (await tools.call(name, input)).output as HostRunOutput;
}

const slowOrDone: Script = (request) => (JSON.stringify(request.messages).includes("Slow.") ? hang() : report("done"));

test("a store is owned for its one open run, however many runs came after it", { timeout: 60_000 }, async () => {
  const { other, open, hostsOf } = openProject();
  const first = await open(other, slowOrDone);
  const tools = first.hostTools(TOOLS);
  const { run_id } = await ask(tools, "subagent_start", { task: "Slow." });
  for (let number = 0; number < 51; number += 1) await ask(tools, "subagent", { task: "Quick." });
  await first.close({ withinMs: 0 });

  const project = await hostsOf(() => report("done"));
  const [hosts] = await project.hosts();
  expect(project.owned()).toEqual([other]);
  expect(await ask(hosts, "subagent_wait", { run_id })).toMatchObject({ status: "completed", summary: "done" });
});

test("a wait for the run of a server that ends goes on, and owns its store", async () => {
  const { other, open, hostsOf } = openProject();
  const first = await open(other, () => hang());
  const { run_id } = await ask(first.hostTools(TOOLS), "subagent_start", { task: "Slow." });
  const { passed, open: letGo } = gate();
  const project = await hostsOf(async () => {
    await passed;
    return report("done");
  });
  const [read] = await project.hosts();
  expect(project.owned()).toEqual([]);
  const waiting = ask(read, "subagent_wait", { run_id });
  await expect
    .poll(async () => (await ask(read, "subagent_wait", { run_id, timeout_seconds: 0 })).status)
    .toBe("working");
  await first.close({ withinMs: 0 });
  // The wait alone has seen that the owner is gone.
  await expect.poll(() => project.owned(), { timeout: 10_000 }).toEqual([other]);
  letGo();
  expect(await waiting).toMatchObject({ status: "completed", summary: "done" });
});

test("after the close nothing is owned or opened any more", async () => {
  const { other, open, hostsOf } = openProject();
  const first = await open(other, () => hang());
  await ask(first.hostTools(TOOLS), "subagent_start", { task: "Slow." });
  const project = await hostsOf(() => hang());
  await project.hosts();
  await first.close({ withinMs: 0 });
  const closed = project.close(0);
  expect(await project.hosts()).toEqual([]);
  await closed;
  // It rejects if the project still owned the store.
  await open(other, () => hang());
});

test("a key of a store that is only read gives its run, and nothing is written", async () => {
  const { other, open, hostsOf } = openProject();
  const first = await open(other, () => hang());
  const start = (tools: HostTools | undefined, task = "Slow.") => ask(tools, "subagent_start", { task, key: "k" });
  const { run_id } = await start(first.hostTools(TOOLS));
  const [read] = await (await hostsOf(() => hang())).hosts();
  expect(await start(read)).toMatchObject({ run_id, status: "working" });
  expect(await start(read, "Other.")).toMatchObject({ status: "refused", reason: "id-reused" });
  await first.close({ withinMs: 0 });
  const store = await openStoreAt(other, "own");
  onTestFinished(() => store.close());
  expect(await store.pendingMail(9)).toEqual([]);
});

test("a key whose work has expired in another store is refused", async () => {
  const { other, open, hostsOf } = openProject();
  const first = await open(other, () => report("done"));
  await ask(first.hostTools(TOOLS), "subagent_start", { task: "Quick.", key: "k" });
  await first.close();
  const store = await openStoreAt(other, "own");
  onTestFinished(() => store.close());
  expect(await store.expire(Number.MAX_SAFE_INTEGER, 9)).toHaveLength(1);
  const [read] = await (await hostsOf(() => hang())).hosts();
  const again = await ask(read, "subagent_start", { task: "Quick.", key: "k" });
  expect(again).toMatchObject({ status: "refused", reason: "tree-unknown" });
  expect(again.error).toContain("Use a new key");
  expect(await store.pendingMail(9)).toEqual([]);
});

test("a long wait for a run of another server keeps no listener for each look", async () => {
  const { other, open, hostsOf } = openProject();
  const first = await open(other, () => hang());
  const { run_id } = await ask(first.hostTools(TOOLS), "subagent_start", { task: "Slow." });
  const [read] = await (await hostsOf(() => hang())).hosts();
  const combined = vi.spyOn(AbortSignal, "any");
  onTestFinished(() => combined.mockRestore());
  const waiting = ask(read, "subagent_wait", { run_id, timeout_seconds: 2 });
  const counts: number[] = [];
  for (let looks = 0; looks < 3; looks += 1) {
    await delay(500);
    const [call] = combined.mock.results;
    if (call?.type === "return") counts.push(getEventListeners(call.value, "abort").length);
  }
  expect(counts).toHaveLength(3);
  expect(Math.max(...counts)).toBeLessThanOrEqual(2);
  expect(await waiting).toMatchObject({ status: "working" });
});

test("two servers that start work under one key at the same time start one run", async () => {
  const { open, folder, hostsOf } = openProject();
  const servers = await Promise.all(
    [1, 2].map(async (number) => {
      const own = projectFile(folder, number);
      const errand = await open(own, () => hang());
      const project = await hostsOf(() => hang(), own);
      return { errand, tools: joinHostTools(errand.hostTools(TOOLS), project.hosts, project.alone) };
    }),
  );
  for (const key of ["one", "two", "three"]) {
    const starts = servers.map(({ tools }) => ask(tools, "subagent_start", { task: "Slow.", key }));
    const [first, second] = await Promise.all(starts);
    expect(first).toMatchObject({ run_id: expect.any(String) as string });
    expect(second?.run_id).toBe(first?.run_id);
  }
  const runs = await Promise.all(servers.map(({ errand }) => errand.listRuns()));
  expect(runs.flat()).toHaveLength(3);
});

test("a file that cannot be opened is named once, and not at each call", async () => {
  const { other, open, hostsOf, notices } = openProject();
  await (await open(other, () => hang())).close();
  writeFileSync(`${other}-owner`, "This is no lock. ".repeat(1_000));
  const project = await hostsOf(() => hang());
  await project.hosts();
  await project.hosts();
  expect(notices).toEqual([expect.stringContaining(`${other}-owner`)]);
});
