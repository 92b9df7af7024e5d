/** `ps`, `show`, `logs`, `result`: reading a store from another process. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type Finished, projectFolder, records, runErrand } from "./support/errand-process.ts";
import { saidOf, type WorkedProject, workedProject } from "./support/worked-project.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let project: WorkedProject;
beforeAll(async () => (project = await workedProject()));
afterAll(() => project.remove());

const errand = (...args: string[]): Promise<Finished> => runErrand(args, project);

describe("ps", () => {
  test("lists trees with work to do, and all trees with --all", async () => {
    expect(await errand("ps")).toMatchObject({
      code: 0,
      out: "",
      err: "no tree has anything to do; errand ps --all lists 1 tree at rest\n",
    });
    const { code, out } = await errand("ps", "--all");
    expect(out).toMatch(/^TREE +TITLE +STATE +OPEN RUNS +LAST ACTIVITY +AGENT$/m);
    expect(out).toMatch(
      new RegExp(`^${project.short}  what opens the store\\?  idle +0 +\\d.* ago +orchestrator$`, "m"),
    );
    expect(code).toBe(0);
  });

  test("--json: an object for each tree", async () => {
    const { out } = await errand("ps", "--all", "--json");
    expect(records(out)).toEqual([
      {
        type: "tree",
        title: "what opens the store?",
        id: project.tree,
        agent: "orchestrator",
        kind: "foreground",
        state: "idle",
        openRuns: 0,
        rows: expect.any(Number),
        createdAt: expect.any(Number),
        updatedAt: expect.any(Number),
        owner: null,
        unplaced: null,
      },
    ]);
    expect((await errand("ps", "--all")).err).toBe("no process owns the store\n");
  });
});

describe("show", () => {
  test("a tree: its record, and its runs with status, report, tokens and id", async () => {
    const { code, out } = await errand("show", project.tree);
    expect(out).toContain(`what opens the store?\ntree ${project.tree}\norchestrator (foreground), idle\n`);
    expect(out).toMatch(/^\d+ rows, 2 runs, 0 open, [\d.]+k tokens of runs$/m);
    for (const number of [1, 2]) {
      const line = `^${project.short}/${number}  [├└]─ ✓ worker ".+ok +report: tool +\\d.+ tok$`;
      expect(out).toMatch(new RegExp(line, "m"));
    }
    expect(code).toBe(0);
  });

  test("a run: its task and its result", async () => {
    const [run = ""] = project.runs;
    const { code, out } = await errand("show", run);
    expect(out).toContain(`run ${run}\n`);
    expect(out).toMatch(/\nTask\nSearch .+\n\nResult\n.+store\.ts/s);
    expect(code).toBe(0);
    const [record] = records((await errand("show", "--json", run)).out);
    expect(record).toMatchObject({ type: "run", id: run, tree: project.tree, status: "ok", report: "tool", files: [] });
    expect(record?.["task"]).toMatch(/^Search/);
    expect(record?.["result"]).toContain("store.ts");
  });

  test("--json of a tree: the tree, then its runs", async () => {
    const lines = records((await errand("show", "--json", project.tree)).out);
    expect(lines.map((line) => [line["type"], line["id"]])).toEqual([
      ["tree", project.tree],
      ...project.runs.map((run) => ["run", run]),
    ]);
  });
});

describe("logs", () => {
  test("facts as lines with time and row, with the names of agents and runs", async () => {
    const { code, out } = await errand("logs", project.tree);
    expect(out).toMatch(/^\d\d:\d\d:\d\d\.\d{3} {5}1 {2}tree-opened {10}orchestrator \(foreground\)$/m);
    expect(out).toMatch(/message-posted +user message to orchestrator: what opens the store\?$/m);
    expect(out).toMatch(/^ {20}run-ended +"In .+": ok \(report: tool\)$/m);
    expect(out).toMatch(/model-replied +orchestrator: calls start_background_agent, .+ \(\d+ in, \d+ out\)$/m);
    expect(code).toBe(0);
  });

  test("--json: one row per line, without a gap; the id of a run names its tree", async () => {
    const [run = ""] = project.runs;
    const lines = records((await errand("logs", "--json", run)).out);
    expect(lines.map((line) => line["seq"])).toEqual(lines.map((_, index) => index + 1));
    expect(lines[0]).toMatchObject({
      type: "event",
      tree: project.tree,
      rejected: null,
      facts: [{ type: "tree-opened" }],
    });
    expect(lines[1]).toMatchObject({ texts: ["what opens the store?"] });
  });
});

describe("result", () => {
  test("only the findings on standard output, and how the run ended on standard error", async () => {
    const [run = ""] = project.runs;
    const { code, out, err } = await errand("result", run);
    expect(out).toMatch(/^- .*store/);
    expect(err).toMatch(/^worker ".+" ended: ok \(report: tool\)\n$/);
    expect(code).toBe(0);
    const [record] = records((await errand("result", "--json", run)).out);
    expect(record).toEqual({
      type: "result",
      run,
      tree: project.tree,
      name: expect.any(String),
      status: "ok",
      reason: null,
      error: null,
      report: "tool",
      text: out.trimEnd(),
      artifacts: [],
      data: null,
    });
  });

  test("of a tree: the answer to the last message", async () => {
    const { code, out, err } = await errand("result", project.tree);
    expect(out).toMatch(/^I asked 2 helpers.+\n\nYou asked: what opens the store\?\n[\s\S]+store\.ts/);
    expect({ code, err }).toEqual({ code: 0, err: "" });
  });
});

describe("ids", () => {
  const shown = async (given: string): Promise<unknown> => records((await errand("show", "--json", given)).out)[0];

  test("a unique prefix or suffix of an id is enough, of a run or of its child", async () => {
    const [run = ""] = project.runs;
    const [whole] = records((await errand("show", "--json", run)).out);
    const agent = String(whole?.["agent"]);
    for (const given of [run.slice(0, 18), run.slice(0, 18).toUpperCase(), agent, agent.slice(0, 18), run.slice(14)]) {
      expect(await shown(given)).toMatchObject({ type: "run", id: run });
    }
    for (const given of [project.tree.slice(0, 18), project.tree.slice(-7)])
      expect(await shown(given)).toMatchObject({ type: "tree", id: project.tree });
  });

  test("the ids of lists are accepted: short ids, and runs by number", async () => {
    expect(await shown(project.short)).toMatchObject({ type: "tree", id: project.tree });
    expect(await shown(`${project.short}/2`)).toMatchObject({ type: "run", id: project.runs[1] });
    expect(await shown(`${project.tree}/1`)).toMatchObject({ type: "run", id: project.runs[0] });
    const { code, err } = await errand("show", "last/3");
    expect(saidOf(err)).toMatchObject({ code: "run-unknown", lines: 2 });
    expect(err).toContain('has no run 3: it has runs 1 to 2 (run-unknown)\n  It is "what opens the store?".');
    expect(code).toBe(1);
  });

  test("last is the newest tree, in every command that takes an id", async () => {
    expect(await shown("last")).toMatchObject({ type: "tree", id: project.tree });
    expect(await shown("last/1")).toMatchObject({ type: "run", id: project.runs[0] });
    const same = async (command: string, ...more: string[]): Promise<void> => {
      const [named, last] = await Promise.all(
        [project.tree, "last"].map((given) => errand(command, "--json", given, ...more)),
      );
      const timeless = (text: string): string => text.replaceAll(/"elapsedMs":[\d.]+/g, "");
      expect(timeless(last?.out ?? ""), command).toBe(timeless(named?.out ?? "no"));
      expect(last?.out, command).not.toBe("");
    };
    for (const command of ["logs", "result", "replay", "export", "cancel"]) await same(command);
    expect((await errand("chat", "last", "--agent", "x")).err).toContain(`errand fork ${project.tree} --at`);
    expect((await errand("fork", "last", "--at", "999")).err).toContain(`errand logs ${project.tree} shows them`);
    expect((await errand("resume", "last")).err).toBe("nothing to resume: every tree is at rest\n");
    expect((await errand("send", "last/1", "x")).err).toContain("its run has ended");
    expect(saidOf((await errand("answer", "last", "yes")).err)).toMatchObject({ code: "question-closed" });
  });

  test("a prefix of several ids is refused, and they are named with their titles", async () => {
    // Runs of one step have the same time and the same seed.
    const given = project.runs[0]?.slice(0, 14) ?? "";
    const { code, out, err } = await errand("show", given);
    expect(saidOf(err)).toMatchObject({ code: "usage", lines: 2 });
    expect(err).toMatch(/^error: "[0-9a-f-]+" fits \d ids \(usage\)\n {2}Do you mean .+\?\n$/);
    for (const number of [1, 2]) expect(err).toMatch(new RegExp(`${project.short}/${number} "In .+?"`));
    expect({ code, out }).toEqual({ code: 2, out: "" });
  });

  test.each([
    ["too short", "01a1e", "usage", 2],
    ["no id", "orchestrator", "usage", 2],
    ["unknown", "00000000-0000-7000-8000-000000000000", "tree-unknown", 1],
    ["an unknown part", "000000", "tree-unknown", 1],
    ["an unknown part with a run", "000000/1", "tree-unknown", 1],
  ])("one that is %s is an error of two lines that names the newest tree", async (_what, given, expected, exit) => {
    for (const command of ["show", "logs", "result", "cancel", "export"]) {
      const { code, out, err } = await errand(command, given);
      expect(saidOf(err), command).toMatchObject({ code: expected, lines: 2 });
      expect(err).toContain(`\n  The newest: ${project.short} "what opens the store?". errand ps --all`);
      expect({ code, out }).toEqual({ code: exit, out: "" });
    }
  });
});

describe("a store that does not exist", () => {
  test.each([
    ["ps"],
    ["show", "123456"],
    ["logs", "123456"],
    ["replay", "123456"],
    ["send", "123456", "x"],
    ["resume"],
  ])("is said by %s, and none is made", async (...args) => {
    const { folder, remove } = projectFolder();
    const { code, out, err } = await runErrand([...args, "--json"], { folder });
    expect(saidOf(err)).toMatchObject({ code: "store-unreadable", lines: 2 });
    expect(records(out)).toMatchObject([{ type: "error", code: "store-unreadable" }]);
    expect(code).toBe(1);
    expect(existsSync(join(folder, ".errand"))).toBe(false);
    remove();
  });

  test("a store in memory is refused too, because no other process can see it", async () => {
    const { code, err } = await errand("ps", "--store", "memory");
    expect(saidOf(err)).toMatchObject({ code: "usage", lines: 2 });
    expect(code).toBe(2);
  });
});
