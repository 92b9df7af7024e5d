/** `errand run` that is stopped from outside: what it cancels, what it keeps, how it exits. */

import { afterEach, beforeEach, expect, describe, test, vi } from "vitest";
import { projectFolder, records, runErrand, SLOW, startErrand } from "./support/errand-process.ts";

vi.setConfig({ testTimeout: 60_000 });

const project = { folder: "", remove: (): void => undefined };
beforeEach(() => Object.assign(project, projectFolder()));
afterEach(() => project.remove());

describe("stopping", () => {
  test("Ctrl-C cancels every run, says what is stored, and is exit 130; nothing is left to resume", async () => {
    const running = startErrand(["run", "--json", "--model", "slow/500", "the store"], { ...project, entry: SLOW });
    // The agent's turn is over: announcements of its cancelled runs must not start another one.
    await running.seen('"draining"');
    running.kill("SIGINT");
    const { code, out } = await running.finished;
    const lines = records(out);
    expect(lines.at(-1)).toMatchObject({ type: "done", outcome: "interrupted", exit: 130, runs: { open: 0 } });
    expect(lines.filter((line) => line["type"] === "run-ended").map((line) => line["status"])).toContain("cancelled");
    const after = lines.slice(lines.findIndex((line) => line["type"] === "notice"));
    const turns = after.filter((line) => line["type"] === "turn-ended");
    expect(turns.every((turn) => turn["outcome"] === "cancelled")).toBe(true);
    expect(after.filter((line) => line["type"] === "turn-started")).toHaveLength(turns.length);
    expect(lines.some((line) => line["type"] === "answer")).toBe(false);
    expect(code).toBe(130);
    const next = await runErrand(["run", "the store"], project);
    expect(next.err).not.toContain("going on");
    expect(next.code).toBe(0);
  });

  test("a second Ctrl-C exits at once, even while the first one still closes", async () => {
    const how = { ...project, entry: SLOW };
    const dead = startErrand(["run", "--json", "--model", "slow/60000", "x"], how);
    await dead.seen('"turn-started"');
    dead.kill("SIGKILL");
    await dead.finished;
    // The dead process's work runs again, and gets a moment to finish when this process closes.
    const running = startErrand(["run", "--json", "--model", "slow/60000", "x"], how);
    await running.seen('"turn-started"');
    running.kill("SIGINT");
    await running.seen('"cancelled"');
    running.kill("SIGINT");
    const { code, out } = await running.finished;
    expect(code).toBe(130);
    expect(out).not.toContain('"done"');
  });

  test("a model that cannot be aborted does not keep the process alive", async () => {
    const running = startErrand(["run", "--json", "--model", "stuck/50000", "x"], { ...project, entry: SLOW });
    await running.seen('"turn-started"');
    running.kill("SIGINT");
    const { code, out } = await running.finished;
    expect(records(out).at(-1)).toMatchObject({ type: "done", exit: 130 });
    expect(code).toBe(130);
  }, 30_000);

  test("SIGTERM parks the current work for the next command, and is exit 143", async () => {
    const running = startErrand(["run", "--model", "slow/60000", "the store"], { ...project, entry: SLOW });
    await running.seen("opened");
    running.kill("SIGTERM");
    const { code, err } = await running.finished;
    expect(err).toContain("the next errand command on this store goes on with the rest");
    expect(code).toBe(143);
    const next = await runErrand(["run", "--model", "slow/1", "the store"], { ...project, entry: SLOW });
    expect(next.err).toContain("going on with 1 unfinished tree of an earlier process");
    expect(next.code).toBe(0);
  });
});
