/** The real demonstration: what it shows, what it counts, and that it reports a failure. */

import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Fact } from "../../src/core/event.ts";
import { projectFolder, records, runErrand, startErrand, terminalAvailable } from "./support/errand-process.ts";
import { screenOf } from "./support/screen.ts";

// It takes about seven seconds; a loaded machine may take several times that.
vi.setConfig({ testTimeout: 90_000 });
const LONGEST_MS = 45_000;

const START = fileURLToPath(new URL("../../scripts/start.mjs", import.meta.url));
const FAULTY = fileURLToPath(new URL("./support/faulty-errand.ts", import.meta.url));
const PROOF = /^killed at row (\d+) · (\d+) spawned · (\d+) ended · (\d+) told once · replay identical \((\d+) rows\)$/;

const project = { folder: "", remove: (): void => undefined };
let temporary = "";
beforeEach(() => {
  Object.assign(project, projectFolder());
  temporary = join(project.folder, "temporary");
  mkdirSync(temporary);
});
afterEach(() => project.remove());

function how(env: Readonly<Record<string, string>> = {}) {
  // The compile cache stays where it is, so that not every process compiles again.
  const NODE_COMPILE_CACHE = join(tmpdir(), "node-compile-cache");
  return { folder: project.folder, env: { TMPDIR: temporary, NODE_COMPILE_CACHE, ...env } };
}

/** The demonstration's folders that are left. */
function leftovers(): string[] {
  return readdirSync(temporary).filter((name) => name.startsWith("errand-demo-"));
}

function processAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** The processes that the output names. */
function pidsIn(out: string): number[] {
  return [...out.matchAll(/process +(\d+) starts/g)].map(([, pid]) => Number(pid));
}

const upwards = (left: number, right: number): number => left - right;

interface Row {
  readonly seq: number;
  readonly facts: readonly Fact[];
}

/** The journal, as another command prints it. */
async function journalOf(store: string): Promise<Row[]> {
  const [tree] = records((await runErrand(["ps", "--all", "--json", "--store", store], how())).out);
  const id = String(tree?.["tree"] ?? tree?.["id"]);
  const { out } = await runErrand(["logs", "--json", "--store", store, id], how());
  return records(out) as unknown as Row[];
}

test("a process is killed, another one finishes, and the journal has every number of the last line", async () => {
  const began = performance.now();
  const { code, out, err } = await runErrand(["demo", "--store", "kept.db"], how());
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(performance.now() - began).toBeLessThan(LONGEST_MS);
  const lines = out.trimEnd().split("\n");
  expect(lines.length).toBeGreaterThan(20);
  expect(lines.length).toBeLessThan(30);
  expect(lines.filter((line) => / nudged {4}child "The source"/.test(line))).toHaveLength(1);
  expect(lines.filter((line) => / KILLED {4}process \d+, by SIGKILL, at row \d+/.test(line))).toHaveLength(1);
  expect(out).not.toContain("token");
  expect(out).toContain("A sample project.");
  const [, killedAt, spawned, ended, told, rows] = (PROOF.exec(lines.at(-1) ?? "") ?? []).map(Number);

  const journal = await journalOf("kept.db");
  const facts = journal.flatMap((row) => row.facts);
  const runs = facts.flatMap((fact) => (fact.type === "run-created" ? [fact.run] : []));
  const ends = facts.flatMap((fact) => (fact.type === "run-ended" ? [fact.run] : []));
  const placed = facts.flatMap((fact) => (fact.type === "turn-started" ? (fact.placed ?? []) : []));
  expect(runs).toEqual([1, 2, 3, 4]);
  expect(ends.toSorted(upwards)).toEqual(runs);
  expect(placed.toSorted(upwards)).toEqual(runs);
  expect({ spawned, ended, told, rows }).toEqual({ spawned: 4, ended: 4, told: 4, rows: journal.length });
  // The first row after the kill is the new process's: it takes over the dead one's effects.
  expect(journal.find(({ seq }) => seq === (killedAt ?? 0) + 1)?.facts[0]?.type).toBe("effects-lost");
  const before = journal.filter(({ seq }) => seq <= (killedAt ?? 0)).flatMap((row) => row.facts);
  expect(before.filter((fact) => fact.type === "run-ended").length).toBeGreaterThanOrEqual(2);
  expect(before.some((fact) => fact.type === "nudge-given")).toBe(false);
  expect(facts.filter((fact) => fact.type === "nudge-given")).toHaveLength(1);
  expect(leftovers()).toEqual([]);
});

test("the demonstration works where XDG_DATA_HOME is not set", async () => {
  const home = join(project.folder, "home");
  mkdirSync(home);
  const { code, out, err } = await runErrand(["demo"], { ...how({ XDG_DATA_HOME: "" }), home });
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(out.trimEnd().split("\n").at(-1)).toMatch(PROOF);
});

describe.runIf(terminalAvailable)("npm start", () => {
  test("in a terminal draws the tree below the lines, and leaves the same lines as in a pipe", async () => {
    const terminal = { columns: 110, rows: 40 };
    const running = startErrand([], { ...how(), entry: START, terminal });
    await running.seen("└─ ");
    await running.seen("nothing runs now");
    const { code, out } = await running.finished;
    const { lines, cursorVisible, wraps } = screenOf(out);
    expect(code).toBe(0);
    expect({ cursorVisible, wraps }).toEqual({ cursorVisible: true, wraps: true });
    const shown = lines.join("\n").trimEnd().split("\n");
    expect(shown.at(-1)).toMatch(PROOF);
    expect(shown.filter((line) => line.includes("└─ "))).toEqual([]);
    expect(shown.filter((line) => /^ +\d\.\ds {2}(spawned|ended) /.test(line))).toHaveLength(8);
    expect(shown.length).toBeLessThan(30);
    expect(leftovers()).toEqual([]);
    expect(existsSync(join(project.folder, ".errand"))).toBe(false);
  });
});

test("--json prints each step, the answer and the proof", async () => {
  const { code, out, err } = await runErrand(["demo", "--json"], how());
  expect({ code, err }).toEqual({ code: 0, err: "" });
  const lines = records(out);
  const types = lines.map((line) => line["type"]);
  expect(types.filter((type) => type === "process-started")).toHaveLength(2);
  for (const type of ["task-given", "process-killed", "calls-repeated", "nudged", "told"])
    expect(types).toContain(type);
  expect(types.slice(-2)).toEqual(["answer", "proof"]);
  expect(lines.at(-1)).toMatchObject({ spawned: 4, ended: 4, toldOnce: 4, verdict: "proven", problems: [], ok: true });
});

test("a journal with an undelivered run is counted as it is, is a failure, and is kept", async () => {
  const { code, out, err } = await runErrand(["demo"], { ...how({ FAULT: "untold" }), entry: FAULTY });
  expect(out.trimEnd().split("\n").at(-1)).toMatch(
    /^killed at row \d+ · 4 spawned · 4 ended · 3 told once · replay broken at row \d+ \(.+\)$/,
  );
  expect(err).toMatch(/^error: The promise was not kept: .+ \(demo-failed\)\n {2}This is a bug in Errand\. .+\n$/);
  expect(err).toContain("run 4 was told 0 times");
  expect(code).toBe(1);
  const [kept = ""] = leftovers();
  expect(err).toContain(join(temporary, kept, "demo.db"));
});

test.each([
  ["lost", /^error: Process \d+ could not finish the job \(exit code 1: error: the disk is gone \(store-failed\)\)/],
  ["early", /^error: Process \d+ ended before it could be killed \(exit code 0\)/],
])("a process that does wrong (%s) is told of, and nothing is left", async (fault, message) => {
  const { code, out, err } = await runErrand(["demo"], { ...how({ FAULT: fault }), entry: FAULTY });
  expect(err).toMatch(message);
  expect(err).toMatch(/ \(demo-failed\)\n {2}\S.+\n$/);
  expect(out).not.toContain("told once");
  expect(code).toBe(1);
  expect(leftovers()).toEqual([]);
});

test.each([
  ["SIGINT", 130, "ended  "],
  ["SIGTERM", 143, "starts: errand resume"],
] as const)("%s (exit code %d) at %j leaves no process and no folder", async (signal, exit, moment) => {
  const running = startErrand(["demo"], how());
  await running.seen(moment);
  running.kill(signal);
  const { code, out, err } = await running.finished;
  expect({ code, err }).toEqual({ code: exit, err: "left before the end; nothing is kept\n" });
  expect(out).not.toContain("told once");
  expect(pidsIn(out).length).toBeGreaterThan(0);
  expect(pidsIn(out).filter(processAlive)).toEqual([]);
  expect(leftovers()).toEqual([]);
});

test("an existing store, one in memory and a database are usage errors, and are not changed", async () => {
  writeFileSync(join(project.folder, "there.db"), "mine");
  for (const store of ["there.db", "memory", "postgres://127.0.0.1:1/x"]) {
    const { code, out, err } = await runErrand(["demo", "--store", store], how());
    expect(err).toMatch(/^error: .+ \(usage\)\n {2}\S.+\n$/);
    expect({ code, out }).toEqual({ code: 2, out: "" });
  }
});
