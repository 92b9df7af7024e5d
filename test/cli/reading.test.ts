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
    expect(out).toMatch(/^TREE +AGENT +STATE +OPEN RUNS +LAST ACTIVITY$/m);
    expect(out).toMatch(new RegExp(`^${project.tree}  orchestrator  idle +0 +\\d.* ago$`, "m"));
    expect(code).toBe(0);
  });

  test("--json: an object for each tree", async () => {
    const { out } = await errand("ps", "--all", "--json");
    expect(records(out)).toEqual([
      {
        type: "tree",
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
    expect(out).toContain(`tree ${project.tree}\norchestrator (foreground), idle\n`);
    expect(out).toMatch(/^\d+ rows, 2 runs, 0 open, [\d.]+k tokens of runs$/m);
    for (const run of project.runs) {
      expect(out).toMatch(new RegExp(`^[├└]─ ✓ worker ".+ok +report: tool +\\d.+ tok +${run}$`, "m"));
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
    expect(lines[0]).toMatchObject({ type: "event", tree: project.tree, late: null, facts: [{ type: "tree-opened" }] });
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
  test("any unique prefix of an id is enough, of a run or of its child", async () => {
    const [run = ""] = project.runs;
    const [whole] = records((await errand("show", "--json", run)).out);
    const agent = String(whole?.["agent"]);
    for (const given of [run.slice(0, 18), run.slice(0, 18).toUpperCase(), agent, agent.slice(0, 18)]) {
      expect(records((await errand("show", "--json", given)).out)[0]).toMatchObject({ type: "run", id: run });
    }
    expect(records((await errand("show", "--json", project.tree.slice(0, 18))).out)[0]).toMatchObject({
      id: project.tree,
    });
  });

  test("a prefix of several ids is refused, and they are named", async () => {
    // Runs of one step have the same time and the same seed.
    const given = project.runs[0]?.slice(0, 14) ?? "";
    const { code, out, err } = await errand("show", given);
    const said = saidOf(err);
    expect(said).toMatchObject({ code: "usage", lines: 2 });
    expect(said.message).toMatch(/^".+" is the beginning of \d ids: /);
    for (const run of project.runs) expect(said.message).toContain(`run ${run}`);
    expect({ code, out }).toEqual({ code: 2, out: "" });
  });

  test.each([
    ["too short", "01a1e", "usage", 2],
    ["no id", "orchestrator", "usage", 2],
    ["unknown", "00000000-0000-7000-8000-000000000000", "tree-unknown", 1],
    ["an unknown beginning", "000000", "tree-unknown", 1],
  ])("one that is %s is an error of two lines", async (_what, given, expected, exit) => {
    for (const command of ["show", "logs", "result", "cancel", "export"]) {
      const { code, out, err } = await errand(command, given);
      expect(saidOf(err), command).toMatchObject({ code: expected, lines: 2 });
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
