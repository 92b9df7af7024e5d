/** `errand run --detach`: a background process, how it starts, is found and ends. */

import { appendFileSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { withBoundedLog } from "../../src/cli/commands/run/background.ts";
import {
  type Finished,
  type HowToRun,
  projectFolder,
  records,
  runErrand,
  SLOW,
  startErrand,
  storeOf,
  terminalAvailable,
} from "./support/errand-process.ts";
import { createFakeHost } from "./support/fake-host.ts";
import { saidOf } from "./support/worked-project.ts";

vi.setConfig({ testTimeout: 60_000 });

const project = { folder: "", remove: (): void => undefined };
const pids: number[] = [];
beforeEach(() => Object.assign(project, projectFolder()));
afterEach(() => {
  for (const pid of pids.splice(0)) if (alive(pid)) process.kill(pid, "SIGKILL");
  project.remove();
});

const errand = (...args: string[]): Promise<Finished> => runErrand(args, { ...project, entry: SLOW });

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function until(done: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await done())) await new Promise((resolve) => setTimeout(resolve, 50));
}

interface Background {
  readonly tree: string;
  readonly pid: number;
}

async function detach(model: string, ...more: string[]): Promise<Background> {
  const { code, out, err } = await errand(
    "run",
    "--detach",
    "--json",
    "--model",
    model,
    ...more,
    "what opens the store?",
  );
  expect({ code, err }).toEqual({ code: 0, err: "" });
  const [line] = records(out);
  expect(line).toMatchObject({ type: "detached", store: dirname(log()), log: log() });
  pids.push(Number(line?.["pid"]));
  return { tree: String(line?.["tree"]), pid: Number(line?.["pid"]) };
}

/** Releases the children of `held/1`. */
function go(): void {
  writeFileSync(join(project.folder, "go"), "");
}

const log = (): string => join(dirname(storeOf(project.folder)), "background-log");

describe("a task in the background", () => {
  test("prints its tree once it is durable; ps, logs -f and result find it; it exits by itself", async () => {
    const { code, out, err } = await errand("run", "-d", "--model", "held/1", "what opens the store?");
    expect(code).toBe(0);
    const tree = out.trimEnd();
    const pid = Number(/^works in the background \(pid (\d+)\); watch it with: errand logs -f (\S+)\n$/.exec(err)?.[1]);
    pids.push(pid);
    expect(err).toContain(tree);
    expect((await errand("logs", tree)).out).toMatch(
      /message-posted +user message to orchestrator: what opens the store/,
    );
    expect(records((await errand("ps", "--json")).out)).toEqual([
      expect.objectContaining({ id: tree, state: "busy", owner: expect.stringContaining(`pid ${pid} on `) }),
    ]);
    const early = await errand("result", tree);
    expect(saidOf(early.err)).toMatchObject({ code: "run-open", lines: 2 });
    expect({ code: early.code, out: early.out }).toEqual({ code: 1, out: "" });
    const logs = startErrand(["logs", "-f", tree], project);
    await logs.seen("run-created");
    go();
    await logs.seen("run-ended");
    await until(() => !alive(pid));
    logs.kill("SIGINT");
    await logs.finished;
    expect(await errand("result", tree)).toMatchObject({ code: 0, out: expect.stringContaining("store.ts"), err: "" });
    const [result] = records((await errand("result", "--json", tree)).out);
    expect(result).toMatchObject({
      type: "result",
      run: null,
      tree,
      status: "ok",
      text: expect.stringContaining("store.ts"),
    });
    expect((await errand("ps", "--all")).err).toBe("no process owns the store\n");
    expect(readFileSync(log(), "utf8")).toMatch(new RegExp(`^.+Z pid ${pid} works on tree ${tree}$`, "m"));
    expect(statSync(log()).mode & 0o777).toBe(0o600);
  });

  test("has its own session, and its task is in no argument", async () => {
    const { pid } = await detach("held/1");
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /, "")
      .split(" ");
    expect(Number(fields[3])).toBe(pid);
    expect(readFileSync(`/proc/${pid}/cmdline`, "utf8")).not.toContain("what opens");
  });

  test.runIf(terminalAvailable)("survives the terminal that started it", async () => {
    const shell = startErrand(["run", "--detach", "--model", "held/1", "the store"], {
      ...project,
      entry: SLOW,
      terminal: { columns: 80, rows: 24 },
    });
    const { out } = await shell.finished;
    const pid = Number(/pid (\d+)/.exec(out)?.[1]);
    pids.push(pid);
    const [tree] = /[0-9a-f-]{36}/.exec(out) ?? [""];
    expect(alive(pid)).toBe(true);
    go();
    await until(() => !alive(pid));
    expect((await errand("result", tree)).out).toContain("store.ts");
  });

  test("is ended by cancel, and result shows the outcome", async () => {
    const { tree, pid } = await detach("slow/60000");
    expect(await errand("cancel", tree)).toMatchObject({ code: 0 });
    await until(() => !alive(pid));
    const { code, err } = await errand("result", tree);
    expect(saidOf(err)).toMatchObject({ code: "turn-failed", message: expect.stringContaining("(cancelled)") });
    expect(code).toBe(1);
  });

  test("gets the options of the command", async () => {
    const { tree, pid } = await detach("slow/60000", "--timeout", "0.3");
    await until(() => !alive(pid));
    expect(readFileSync(log(), "utf8")).toContain("(turn-timeout)");
    expect((await errand("logs", tree)).out).toContain("cancel-asked");
  });

  test("stays for the work of an earlier process, too", async () => {
    const dead = startErrand(["run", "--json", "--model", "held/1", "the store"], { ...project, entry: SLOW });
    await dead.seen('"draining"');
    dead.kill("SIGKILL");
    const left = String(records((await dead.finished).out)[0]?.["tree"]);
    const { tree, pid } = await detach("slow/1");
    await until(async () => (await errand("result", tree)).code === 0);
    // Its own tree has been idle for a while: only the other one keeps it running.
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(alive(pid)).toBe(true);
    go();
    await until(() => !alive(pid));
    expect((await errand("result", left)).out).toContain("store.ts");
  });

  test("keeps logging after its answer while it works on another tree", async () => {
    const dead = startErrand(["run", "--json", "--model", "held/1", "the store"], { ...project, entry: SLOW });
    await dead.seen('"draining"');
    dead.kill("SIGKILL");
    await dead.finished;
    const { tree, pid } = await detach("writing/1");
    const questions = async (): Promise<string[]> =>
      records((await errand("answer", "--json")).out).map(({ id }) => String(id));
    for (const tool of ["write_file", "run_command"]) {
      await until(
        async () => (await questions()).length === 1 && readFileSync(log(), "utf8").includes(`asks: ${tool}`),
      );
      // Longer than the time after which it would exit.
      await new Promise((resolve) => setTimeout(resolve, 500));
      await errand("answer", (await questions())[0] ?? "", "yes");
    }
    await until(() => readFileSync(log(), "utf8").includes("It is over"));
    expect(readFileSync(log(), "utf8").match(/^the writer: allowed$/gm)).toHaveLength(2);
    go();
    await until(() => !alive(pid));
    expect(readFileSync(log(), "utf8")).toMatch(/\ndone in .+\n/);
    expect((await errand("result", tree)).out).toContain("It is over");
  });

  test("handles a message that is sent to it", async () => {
    const { tree, pid } = await detach("held/1");
    expect((await errand("send", tree, "and the tests?")).out).toContain("taken by the owner");
    go();
    await until(() => !alive(pid));
    expect((await errand("logs", tree)).out.match(/message-posted/g)).toHaveLength(2);
  });
});

describe("a failed start is reported as an error and leaves nothing behind", () => {
  async function refused(args: readonly string[], code: string, how: Partial<HowToRun> = {}): Promise<string> {
    const before = readdirSync(project.folder);
    const failed = await runErrand(["run", "--detach", ...args, "x"], { ...project, ...how });
    expect(saidOf(failed.err)).toMatchObject({ code, lines: 2 });
    expect({ code: failed.code, out: failed.out }).toEqual({ code: code === "usage" ? 2 : 1, out: "" });
    expect(readdirSync(project.folder)).toEqual(before);
    return failed.err;
  }

  test("an unknown model, and one without a key", async () => {
    await refused(["--model", "nothing/here"], "model-unknown");
    const err = await refused(["--model", "anthropic/claude"], "model-unknown", { env: { ANTHROPIC_API_KEY: "" } });
    expect(err).toContain("needs a key: set ANTHROPIC_API_KEY");
  });

  test("a store in memory, an invalid time, an invalid store", async () => {
    await refused(["--store", "memory"], "usage");
    await refused(["--timeout", "soon"], "usage");
    await refused(["--store", "README.md"], "store-unreadable");
  });

  test("the option that only Errand itself may use", async () => {
    const { code, err } = await runErrand(["run", "--detached"], { ...project, input: "the store\n" });
    expect(saidOf(err)).toMatchObject({ code: "usage", lines: 2 });
    expect(code).toBe(2);
  });

  test("a process that dies before it takes the task, with its last output", async () => {
    const die = 'if(process.argv.includes("--detached")){process.stderr.write("first\\nit broke\\n");process.exit(7)}';
    const options = `--import=data:text/javascript,${encodeURIComponent(die)}`;
    const { code, err } = await runErrand(["run", "--detach", "x"], { ...project, env: { NODE_OPTIONS: options } });
    expect(saidOf(err)).toMatchObject({
      code: "background-failed",
      message: "The background process ended before it had taken the task: it broke",
    });
    expect(code).toBe(1);
  });

  test("a store with another owner, with the owner's name", async () => {
    const own = ["--store", "own.db"];
    const { out } = await errand("run", "--detach", "--json", "--model", "held/1", ...own, "what opens the store?");
    const pid = Number(records(out)[0]?.["pid"]);
    pids.push(pid);
    const beside = join(project.folder, "own.db-log");
    await until(() => readFileSync(beside, "utf8").includes("I asked 2 helpers"));
    const before = readFileSync(beside, "utf8");
    const err = await refused(["--model", "slow/1", ...own], "store-owned", { entry: SLOW });
    expect(err).toMatch(new RegExp(`owned by pid ${pid} on .+\\n {2}.+errand send TREE`));
    expect(readFileSync(beside, "utf8")).toBe(before);
  });
});

describe("the log", () => {
  test("keeps the newest lines within its size limit", () => {
    const path = join(project.folder, "log");
    const fake = createFakeHost();
    const host = withBoundedLog({ ...fake.host, err: (text) => appendFileSync(path, text) }, path, 1_000, 500);
    for (let line = 0; line < 500; line += 1) {
      (line % 2 === 0 ? host.out : host.err)(`line ${line}\n`);
      expect(statSync(path).size).toBeLessThanOrEqual(1_000);
    }
    const lines = readFileSync(path, "utf8").trimEnd().split("\n");
    expect(lines[0]).toBe("(earlier lines are gone)");
    expect(lines.at(-1)).toBe("line 499");
    expect(lines.length).toBeGreaterThan(50);
    const first = Number(lines[1]?.slice(5));
    expect(lines.slice(1)).toEqual(Array.from({ length: 500 - first }, (_, index) => `line ${first + index}`));
  });

  test("counts the lines of earlier processes", () => {
    const path = join(project.folder, "log");
    writeFileSync(path, "old\n".repeat(250));
    const fake = createFakeHost();
    withBoundedLog({ ...fake.host, err: (text) => appendFileSync(path, text) }, path, 1_000, 500).err("new\n");
    expect(statSync(path).size).toBeLessThan(600);
    expect(existsSync(path)).toBe(true);
  });
});
