import { createHash } from "node:crypto";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import type { ReplayReport } from "../../src/core/journal/replay.ts";
import { replayVerdict } from "../../src/core/journal/replay.ts";
import type { Errand } from "../../src/index.ts";
import { readJournalFile } from "../../src/runtime/journals/journal-file.ts";
import { replayJournal } from "../../src/runtime/journals/replay-tree.ts";
import { byContext, callTool, callTools, createMemoryChannel, hang, say } from "../../src/testing/index.ts";
import { eventsUntil, lookTool, openTestErrand, temporaryFolder, turnsEnded } from "../support/test-errand.ts";
import { trustChangedStore } from "../support/trusted-store.ts";

const sha256 = (text: string): string => createHash("sha256").update(text).digest("base64url");

/** One awaited and two background children, one of which has its texts erased; reports, announcement, answer. */
const parent = byContext([
  callTool("subagent", { task: "ask" }),
  callTools([
    { name: "start_background_agent", input: { task: "one" } },
    { name: "start_background_agent", input: { task: "two", cleanup: "delete" } },
  ]),
  say("started"),
  say("all done"),
]);
const child = byContext([
  callTool("look", {}),
  callTool("send_agent_message", { text: "my findings" }),
  say("thinking aloud"),
]);

async function conversation(): Promise<{ errand: Errand; tree: string }> {
  const { errand } = await openTestErrand({ parent, child }, { store: join(temporaryFolder(), "errand.db") });
  const channel = createMemoryChannel();
  const agent = await errand.openAgent({ channel });
  await agent.post("go");
  await eventsUntil(errand, agent.id, (event) => event.facts.some((fact) => fact.type === "texts-erased"));
  await channel.received(2);
  return { errand, tree: agent.id };
}

async function linesOf(errand: Errand, tree: string): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of errand.export(tree)) lines.push(line);
  return lines;
}

async function* each(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines;
}

/** What replaying an exported file finds: its report, and its first damaged line. */
async function replayFile(lines: readonly string[]): Promise<{ report: ReplayReport; line: number | null }> {
  const file = await readJournalFile(each(lines), sha256);
  const report = await replayJournal(file, sha256);
  return { report, line: report.difference === null ? (file.problem()?.line ?? null) : -1 };
}

test("F11: a stored tree is proven without a model, and the verdict counts erased texts", async () => {
  const { errand, tree } = await conversation();
  const report = await errand.replay(tree);
  expect(report.difference).toBeNull();
  expect(report.agents).toBe(4);
  expect(report.erased.length).toBeGreaterThan(0);
  expect(replayVerdict(report)).toContain("intact");
});

test("an exported file replays like the store it came from", async () => {
  const { errand, tree } = await conversation();
  const { report, line } = await replayFile(await linesOf(errand, tree));
  expect(line).toBeNull();
  expect(report).toEqual(await errand.replay(tree));
});

test("a flipped byte anywhere in an exported file is detected, with its line or row", async () => {
  const { errand, tree } = await conversation();
  const lines = await linesOf(errand, tree);
  for (const [index, line] of lines.entries()) {
    for (const at of [0, Math.floor(line.length / 3), Math.floor(line.length / 2), line.length - 2]) {
      const flipped = line.slice(0, at) + String.fromCharCode(line.charCodeAt(at) ^ 1) + line.slice(at + 1);
      const damaged = lines.with(index, flipped);
      if (index === 0) await expect(replayFile(damaged)).rejects.toMatchObject({ code: "file-damaged" });
      else expect((await replayFile(damaged)).line, `line ${index + 1}, byte ${at}`).not.toBeNull();
    }
  }
});

test("a file that is cut off or has lines after its end is detected", async () => {
  const { errand, tree } = await conversation();
  const lines = await linesOf(errand, tree);
  expect((await replayFile(lines.slice(0, -1))).line).toBe(lines.length);
  expect((await replayFile([...lines, lines[1] ?? ""])).line).toBe(lines.length + 1);
  await expect(readJournalFile(each([]), sha256)).rejects.toMatchObject({ code: "file-damaged" });
  await expect(readJournalFile(each(["no journal"]), sha256)).rejects.toMatchObject({ code: "file-damaged" });
});

test("a fork from any row on is proven, also where texts were erased that its rows still promise", async () => {
  const { errand, tree } = await conversation();
  const { rows } = await errand.replay(tree);
  for (let at = 1; at < rows; at += 1) {
    const forked = await errand.fork(tree, { at });
    expect((await errand.replay(forked.id)).difference, `forked at ${at}`).toBeNull();
  }
});

test("a fork of a journal that was tampered with is as broken as its origin", async () => {
  const path = join(temporaryFolder(), "errand.db");
  const open = () => openTestErrand({ parent: byContext([say("paid"), say("more")]) }, { store: path });
  const first = await open();
  const { agent, reply } = await first.errand.start("pay 10");
  await reply();
  await first.errand.close();
  const database = new DatabaseSync(path);
  expect(database.prepare("update journal set body = replace(body, 'pay 10', 'pay 99')").run().changes).toBeGreaterThan(
    0,
  );
  database.close();
  await trustChangedStore(path);
  const { errand } = await open();
  const origin = await errand.replay(agent.id);
  const forked = await errand.fork(agent.id, { at: origin.rows });
  expect(replayVerdict(origin)).toMatch(/^broken at row 2 \(body\)/);
  expect(replayVerdict(await errand.replay(forked.id))).toMatch(/^broken at row 2 \(body\)/);
});

test("a fork shares the history up to its step and continues from there, also as another definition", async () => {
  const { errand, tree } = await conversation();
  const first = await eventsUntil(errand, tree, turnsEnded(1));
  const at = first.at(-1)?.seq ?? 0;
  const forked = await errand.fork(tree, { at, agent: "researcher" });
  expect(forked.id).not.toBe(tree);
  const origin = await linesOf(errand, tree);
  const copied = await linesOf(errand, forked.id);
  const rows = (lines: readonly string[]): string[] => lines.filter((line) => line.startsWith('{"seq"')).slice(0, at);
  const withoutBodies = (lines: readonly string[]): unknown[] =>
    rows(lines).map((line) => line.replace(/,"body":(null|"(?:[^"\\\\]|\\\\.)*")/, ""));
  expect(withoutBodies(copied)).toEqual(withoutBodies(origin));
  expect((await errand.replay(forked.id)).difference).toBeNull();
  const events = await eventsUntil(errand, forked.id, (event) => event.seq > at);
  expect(events.at(-1)?.facts[0]).toMatchObject({ type: "tree-forked", origin: tree, seq: at });
  expect((await errand.listTrees()).map((agent) => agent.id)).toContain(forked.id);
});

test("work that was under way at the fork is interrupted in the fork and continues in the origin", async () => {
  const channel = createMemoryChannel();
  const { errand } = await openTestErrand(
    {
      parent: byContext([
        callTools([
          { name: "look", input: {} },
          { name: "subagent", input: { task: "slow" } },
        ]),
        say("going on"),
      ]),
      child: [hang()],
    },
    { tools: [lookTool(() => new Promise(() => {}))] },
  );
  const agent = await errand.openAgent();
  await agent.post("go");
  const events = await eventsUntil(errand, agent.id, (event) =>
    event.facts.some((fact) => fact.type === "run-started"),
  );
  const forked = await errand.fork(agent.id, { at: events.at(-1)?.seq ?? 0, channel });
  expect((await channel.received(1))[0]?.text).toBe("going on");
  const runs = await errand.listRuns();
  expect(runs.find((run) => run.tree === forked.id)).toMatchObject({ status: "interrupted", reason: "forked" });
  expect(runs.find((run) => run.tree === agent.id)).toMatchObject({ state: "running" });
  await expect(errand.fork(agent.id, { at: 99_999 })).rejects.toMatchObject({ code: "usage" });
});
