/** `send`, `cancel`, `logs -f`: through the process that owns the store, or directly if there is none. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
  type Finished,
  projectFolder,
  records,
  runErrand,
  type RunningErrand,
  SLOW,
  startErrand,
} from "./support/errand-process.ts";
import { saidOf } from "./support/worked-project.ts";

vi.setConfig({ testTimeout: 60_000 });

const project = { folder: "", remove: (): void => undefined };
beforeEach(() => Object.assign(project, projectFolder()));
afterEach(() => project.remove());

const errand = (...args: string[]): Promise<Finished> => runErrand(args, project);

/** A process that works on a task with a slow model, and its tree. */
async function owner(model: string, until: string): Promise<{ running: RunningErrand; tree: string }> {
  const running = startErrand(["run", "--json", "--model", model, "the store"], { ...project, entry: SLOW });
  await running.seen(until);
  const [tree] = records((await errand("ps", "--json")).out);
  return { running, tree: String(tree?.["id"]) };
}

/** Releases the children of `held/1`. */
function go(): void {
  writeFileSync(join(project.folder, "go"), "");
}

/** The tree of a process that was killed while it worked. */
async function orphan(until = '"turn-started"', model = "slow/60000"): Promise<string> {
  const { running, tree } = await owner(model, until);
  running.kill("SIGKILL");
  await running.finished;
  return tree;
}

async function openRuns(tree: string): Promise<string[]> {
  const lines = records((await errand("show", "--json", tree)).out);
  return lines.filter((line) => line["type"] === "run" && line["state"] !== "ended").map((line) => String(line["id"]));
}

describe("with a live owner", () => {
  test("ps names the owner while it lives, and says how to continue after it died", async () => {
    const { running, tree } = await owner("slow/60000", '"turn-started"');
    const alive = await errand("ps");
    expect(alive.out).toMatch(new RegExp(`^${tree.slice(-6)}  the store  busy `, "m"));
    expect(alive.err).toMatch(new RegExp(`^owned by pid ${running.pid} on .+\\n$`));
    const named = expect.stringContaining(`pid ${running.pid} `);
    for (const command of [["ps"], ["show", tree]]) {
      expect(records((await errand(...command, "--json")).out)[0]).toMatchObject({ id: tree, owner: named });
    }
    running.kill("SIGKILL");
    await running.finished;
    const dead = await errand("ps");
    expect(dead.out).toMatch(new RegExp(`^${tree.slice(-6)} .+ busy `, "m"));
    expect(dead.err).toBe("no process owns the store; errand resume goes on with what waits\n");
  });

  test("send: the owner takes the message and handles it", async () => {
    const { running, tree } = await owner("held/1", '"draining"');
    const [sent] = records((await errand("send", "--json", tree, "and the tests?")).out);
    expect(sent).toEqual({ type: "sent", agent: tree, tree, id: expect.any(String), by: "mail", taken: true });
    go();
    expect((await running.finished).code).toBe(0);
    const posted = records((await errand("logs", "--json", tree)).out).filter((event) =>
      JSON.stringify(event["facts"]).includes('"message-posted"'),
    );
    expect(posted.map((event) => event["texts"])).toEqual([["the store"], ["and the tests?"]]);
    expect(posted[1]).toMatchObject({ rejected: null });
    expect(posted[1]?.["facts"]).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ type: "message-posted", id: sent?.["id"], to: 0, kind: "user" }),
      ]),
    );
    expect(await errand("replay", tree)).toMatchObject({ code: 0 });
  });

  test("send to a child, named by its run", async () => {
    const { running, tree } = await owner("held/1", '"draining"');
    const [run = ""] = await openRuns(tree);
    const { code, out } = await runErrand(["send", run, "-"], { ...project, input: "be quick\n" });
    expect(out).toBe(`taken by the owner; watch it with: errand logs -f ${tree}\n`);
    expect(code).toBe(0);
    expect((await errand("logs", tree)).out).toMatch(/message-posted +user message to In .+: be quick$/m);
    running.kill("SIGINT");
    await running.finished;
  });

  test("cancel of a run ends that run; the others continue", async () => {
    const { running, tree } = await owner("held/1", '"draining"');
    const [first = "", ...others] = await openRuns(tree);
    const [cancelled] = records((await errand("cancel", "--json", first)).out);
    expect(cancelled).toEqual({ type: "cancelled", tree, run: first, runs: 1, by: "mail", taken: true });
    go();
    const { code, out } = await running.finished;
    const ended = records(out).filter((line) => line["type"] === "run-ended");
    expect(ended.find((line) => line["run"] === first)).toMatchObject({ status: "cancelled" });
    for (const run of others) expect(ended.find((line) => line["run"] === run)).toMatchObject({ status: "ok" });
    expect(code).toBe(0);
    const again = await errand("cancel", first);
    expect(saidOf(again.err)).toMatchObject({ code: "nothing-to-cancel", lines: 2 });
    expect({ code: again.code, out: again.out }).toEqual({ code: 1, out: "" });
  });

  test("cancel of a tree ends its turn and its runs, and the owner exits", async () => {
    const { running, tree } = await owner("slow/60000", '"turn-started"');
    const { code, out } = await errand("cancel", tree);
    expect(out).toBe(`cancelled tree ${tree} "the store": 0 runs ended\n`);
    expect(code).toBe(0);
    const finished = await running.finished;
    expect(records(finished.out).at(-1)).toMatchObject({ type: "done", outcome: "failed", exit: 1 });
  });

  test("logs -f prints steps as they happen, and Ctrl-C is exit 130", async () => {
    const { running, tree } = await owner("held/1", '"draining"');
    const logs = startErrand(["logs", "-f", tree], project);
    const lines = startErrand(["logs", "-f", "--json", tree], project);
    for (const following of [logs, lines]) {
      for (const type of ["tree-opened", "run-created"]) await following.seen(type);
    }
    go();
    for (const following of [logs, lines]) await following.seen("run-ended");
    const { code } = await running.finished;
    expect(code).toBe(0);
    // The last step of the tree has the answer.
    const last = records((await errand("logs", "--json", tree)).out).at(-1);
    await lines.seen(`"seq":${String(last?.["seq"])},`);
    for (const following of [logs, lines]) following.kill("SIGINT");
    const ended = await Promise.all([logs.finished, lines.finished]);
    expect(ended.map(({ code, err }) => ({ code, err }))).toEqual([
      { code: 130, err: "" },
      { code: 130, err: "" },
    ]);
    const seen = records(ended[1].out).map((line) => line["seq"]);
    expect(seen).toEqual(seen.map((_, index) => index + 1));
  });

  test("fork and resume are refused with the owner's name", async () => {
    const { running, tree } = await owner("slow/60000", '"turn-started"');
    for (const args of [["fork", tree, "--at", "1", "--model", "offline/rehearsal"], ["resume"]]) {
      const { code, out, err } = await runErrand(args, { ...project, entry: SLOW });
      expect(saidOf(err)).toMatchObject({ code: "store-owned", lines: 2 });
      expect(err).toMatch(/pid \d+.+\n {2}.*errand logs -f/);
      expect({ code, out }).toEqual({ code: 1, out: "" });
    }
    running.kill("SIGINT");
    await running.finished;
  });
});

describe("without an owner", () => {
  test("send stores the message, calls no model, and says which command will handle it", async () => {
    await runErrand(["run", "--store", "s.db", "the store"], project);
    const [{ id } = { id: "" }] = records((await errand("ps", "--all", "--json", "--store", "s.db")).out);
    const tree = String(id);
    const { code, out } = await errand("send", "--store", "s.db", tree, "and the tests?");
    expect(out).toBe(`kept in the store; no process works on it now: errand resume ${tree}\n`);
    expect(code).toBe(0);
    const events = records((await errand("logs", "--json", "--store", "s.db", tree)).out);
    expect(events.at(-1)).toMatchObject({ texts: ["and the tests?"], rejected: null });
    const resumed = await errand("resume", "--store", "s.db");
    expect(resumed.out).toContain("You asked: and the tests?");
    expect(resumed.code).toBe(0);
    expect(await errand("replay", "--store", "s.db", tree)).toMatchObject({ code: 0 });
  });

  test("send to a run that has ended is refused", async () => {
    const { out } = await errand("run", "--json", "the store");
    const run = String(records(out).find((line) => line["type"] === "run-created")?.["run"]);
    const refused = await errand("send", run, "hello");
    expect(saidOf(refused.err)).toMatchObject({ code: "agent-unknown", lines: 2 });
    expect({ code: refused.code, out: refused.out }).toEqual({ code: 1, out: "" });
  });

  test("cancel ends the work of a dead process, so that nothing is left to resume", async () => {
    const tree = await orphan('"draining"', "held/1");
    expect((await openRuns(tree)).length).toBe(2);
    const [cancelled] = records((await errand("cancel", "--json", tree)).out);
    expect(cancelled).toEqual({ type: "cancelled", tree, run: null, runs: 2, by: "owner", taken: true });
    expect(await openRuns(tree)).toEqual([]);
    expect((await errand("ps")).err).toContain("no tree has anything to do");
    // Messages from before its death may not have reached the user: they are sent again, and nothing else is done.
    const said = await runErrand(["resume"], { ...project, entry: SLOW });
    expect(said).toMatchObject({ code: 0, out: expect.stringMatching(/^(I asked 2 helpers.+\n)?$/) });
    expect(said.err).not.toContain("started");
    const again = await errand("cancel", tree);
    expect(saidOf(again.err)).toMatchObject({ code: "nothing-to-cancel", lines: 2 });
    expect(again.code).toBe(1);
  });

  test("cancel of one run leaves the rest of the tree and other trees for a later resume", async () => {
    const other = await orphan();
    const tree = await orphan('"draining"', "held/1");
    const before = (await errand("logs", "--json", other)).out;
    const [first = "", second = ""] = await openRuns(tree);
    expect(await errand("cancel", first)).toMatchObject({
      code: 0,
      out: expect.stringMatching(new RegExp(`^cancelled run ${first} ".+": 1 run ended\n$`)),
    });
    expect(await openRuns(tree)).toEqual([second]);
    expect((await errand("logs", "--json", other)).out).toBe(before);
    // Owning the store for a moment changes only what was asked for.
    expect((await errand("logs", tree)).out).not.toContain("catalog-changed");
  });

  test("result of a run that has not ended is refused with a hint", async () => {
    const tree = await orphan('"draining"', "held/1");
    const [run = ""] = await openRuns(tree);
    const { code, out, err } = await errand("result", run);
    expect(saidOf(err)).toMatchObject({ code: "run-open", lines: 2 });
    expect({ code, out }).toEqual({ code: 1, out: "" });
  });
});
