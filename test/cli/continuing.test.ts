/** `resume` and `fork`: continuing a tree from where it stopped, or from any step in a copy. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
  type Finished,
  projectFolder,
  records,
  runErrand,
  SLOW,
  startErrand,
  storeOf,
} from "./support/errand-process.ts";
import { saidOf } from "./support/worked-project.ts";

vi.setConfig({ testTimeout: 60_000 });

const project = { folder: "", remove: (): void => undefined };
beforeEach(() => Object.assign(project, projectFolder()));
afterEach(() => project.remove());

const errand = (...args: string[]): Promise<Finished> => runErrand(args, { ...project, entry: SLOW });

/** A tree whose process was killed while its two runs were held back. */
async function killed(model = "held/1"): Promise<string> {
  const running = startErrand(["run", "--json", "--model", model, "the store"], { ...project, entry: SLOW });
  await running.seen(model === "held/1" ? '"draining"' : '"turn-started"');
  running.kill("SIGKILL");
  const { out } = await running.finished;
  return String(records(out)[0]?.["tree"]);
}

/** Releases held runs. */
function go(): void {
  writeFileSync(join(project.folder, "go"), "");
}

async function worked(): Promise<{ tree: string; runs: readonly string[] }> {
  const lines = records((await errand("run", "--json", "--model", "slow/1", "the store")).out);
  const runs = lines.filter((line) => line["type"] === "run-created").map((line) => String(line["run"]));
  return { tree: String(lines[0]?.["tree"]), runs };
}

describe("resume", () => {
  test("takes over the work of a killed process, waits until it is done, and prints the answer", async () => {
    const tree = await killed();
    go();
    const { code, out, err } = await errand("resume");
    expect(err).toContain(
      `model held/1 (because the tree was recorded with it), store ${storeOf(project.folder)}\ngoing on with 1 unfinished tree of an earlier process\n`,
    );
    expect(err).not.toContain("opened, tree");
    expect(err).toMatch(/^worker ".+" ended: ok \(/m);
    expect(err).toContain(`tree ${tree} in ${storeOf(project.folder)}`);
    expect(out).toContain("store.ts");
    expect(code).toBe(0);
    expect(await errand("resume")).toMatchObject({
      code: 0,
      out: "",
      err: "nothing to resume: every tree is at rest\n",
    });
    expect(await errand("replay", tree)).toMatchObject({ code: 0, out: expect.stringMatching(/\nproven\n$/) });
  });

  test("finishes each of several trees", async () => {
    const trees = [await killed(), await killed()];
    go();
    const { code, out } = await errand("resume", "--json");
    const done = records(out).filter((line) => line["type"] === "done");
    expect(done.map((line) => String(line["tree"])).toSorted()).toEqual(trees.toSorted());
    expect(done.every((line) => line["outcome"] === "done")).toBe(true);
    expect(records(out).filter((line) => line["type"] === "answer")).toHaveLength(2);
    expect(code).toBe(0);
  });

  test("an unavailable model is an error before anything is changed", async () => {
    const tree = await killed();
    const before = (await errand("logs", "--json", tree)).out;
    const { code, err } = await runErrand(["resume", tree], project);
    expect(saidOf(err)).toMatchObject({ code: "model-unknown", lines: 2 });
    expect(code).toBe(1);
    expect((await errand("logs", "--json", tree)).out).toBe(before);
  });

  test("--timeout cancels longer work, and is exit 3", async () => {
    await killed("slow/60000");
    const { code, err } = await errand("resume", "--timeout", "0.3");
    expect(err).toMatch(/^error: .+ \(turn-timeout\)$/m);
    expect(code).toBe(3);
  });

  test("a quarantined tree is mentioned, and released if it is named", async () => {
    const tree = await killed();
    const db = new DatabaseSync(storeOf(project.folder));
    db.exec("update trees set status = 2, failures = 3");
    db.close();
    expect((await errand("ps")).out).toContain("quarantined");
    expect((await errand("show", tree)).out).toContain(`release it with: errand resume ${tree}`);
    const all = await errand("resume");
    expect(all.err).toBe(
      `1 quarantined tree; release one with: errand resume ${tree}\nnothing to resume: every tree is at rest\n`,
    );
    go();
    const { code, out } = await errand("resume", tree);
    expect(out).toContain("store.ts");
    expect(code).toBe(0);
    expect((await errand("ps", "--all")).out).toMatch(new RegExp(`^${tree.slice(-6)} .+ idle `, "m"));
  });
});

describe("fork", () => {
  test("continues from a step in a new tree with the model recorded there, and does not change the old tree", async () => {
    const { tree } = await worked();
    const before = (await errand("export", tree)).out;
    const { code, out } = await errand("fork", "--json", tree, "--at", "4", "look at the tests");
    const lines = records(out);
    expect(lines[0]).toMatchObject({ type: "agent-opened", definition: "orchestrator", model: "slow/1" });
    const fork = String(lines[0]?.["tree"]);
    expect(fork).not.toBe(tree);
    expect(lines.at(-2)).toMatchObject({
      type: "answer",
      text: expect.stringContaining("You asked: look at the tests"),
    });
    expect(lines.at(-1)).toMatchObject({ type: "done", outcome: "done", tree: fork });
    expect(code).toBe(0);
    expect((await errand("export", tree)).out).toBe(before);
    const history = records((await errand("logs", "--json", fork)).out);
    expect(history[4]).toMatchObject({
      seq: 5,
      facts: expect.arrayContaining([expect.objectContaining({ type: "tree-forked", origin: tree, seq: 4 })]),
    });
    expect(await errand("replay", fork)).toMatchObject({ code: 0, out: expect.stringMatching(/\nproven\n$/) });
  });

  test("continues open work without a task, and takes another definition and another model if asked", async () => {
    const { tree } = await worked();
    const args = ["fork", "--json", tree, "--at", "2", "--agent", "researcher", "--model", "offline/rehearsal"];
    const lines = records((await errand(...args)).out);
    expect(lines[0]).toMatchObject({ type: "agent-opened", definition: "researcher", model: "offline/rehearsal" });
    expect(lines.at(-1)).toMatchObject({ type: "done", outcome: "done", exit: 0 });
    expect(lines.at(-2)).toMatchObject({ type: "answer", text: expect.stringContaining("store.ts") });
  });

  test("without open work nothing happens unless there is a task", async () => {
    const { tree } = await worked();
    const { code, out, err } = await errand("fork", tree, "--at", "1");
    expect({ code, out }).toEqual({ code: 0, out: "" });
    expect(err).toMatch(/^orchestrator opened, tree (?!$)/m);
    expect(err).not.toContain(`tree ${tree} in`);
    const asked = await errand("fork", tree, "--at", "1", "look at the tests");
    expect(asked).toMatchObject({ code: 0, out: expect.stringContaining("You asked: look at the tests") });
  });

  test("an impossible fork is refused in two lines, and no tree is created", async () => {
    const { tree, runs } = await worked();
    const [run = ""] = runs;
    for (const [args, code, exit] of [
      [[tree, "--at", "9999"], "usage", 2],
      [[tree, "--at", "x"], "usage", 2],
      [[tree], "usage", 2],
      [[run, "--at", "3"], "usage", 2],
      [[tree, "--at", "3", " "], "usage", 2],
      [[tree, "--at", "3", "--agent", "nobody"], "definition-unknown", 1],
      [[tree, "--at", "3", "--model", "nothing/here"], "model-unknown", 1],
      [["000000", "--at", "3"], "tree-unknown", 1],
    ] as const) {
      const { code: left, err } = await errand("fork", ...args);
      const lines = err.trimEnd().split("\n");
      expect(saidOf(lines.slice(lines.findIndex((line) => line.startsWith("error:"))).join("\n"))).toMatchObject({
        code,
      });
      expect(left, args.join(" ")).toBe(exit);
    }
    expect(records((await errand("ps", "--all", "--json")).out)).toHaveLength(1);
  });
});
