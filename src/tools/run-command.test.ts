import { execFileSync, spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { Tool } from "../contracts/tool.ts";
import { findEnclosure } from "../processes/enclosure.ts";
import { ownSeconds, processesWith, until } from "../processes/supervised.test-support.ts";
import { createRunCommandTool, type RunCommandOptions } from "./run-command.ts";
import { runTool, temporaryFolder, world } from "./tool-run.test-support.ts";

// These tests start many processes, which is slow on a busy machine.
vi.setConfig({ testTimeout: 40_000 });

const NODE = process.execPath;
const environment = { ...process.env, SECRET_API_KEY: "sk-secret", CHOSEN: "yes" };
const enclosed = (await findEnclosure({ PATH: process.env["PATH"] ?? "" })).prefix.length > 0;

/** The enclosures of this machine. The process table is always available. */
const ways: readonly ("auto" | "process-table")[] = enclosed ? ["auto", "process-table"] : ["process-table"];

function createTool(options: Partial<RunCommandOptions> = {}): Tool {
  return createRunCommandTool({ world, environment, ...options });
}

/** A world whose timers of this length fire when `pass` is called. */
function heldLimit(seconds: number): { readonly world: typeof world; pass(): void } {
  let pass = (): void => undefined;
  return {
    pass: () => pass(),
    world: {
      ...world,
      after(milliseconds, callback) {
        if (milliseconds !== seconds * 1_000) return world.after(milliseconds, callback);
        pass = callback;
        return () => undefined;
      },
    },
  };
}

describe.each(ways)("with %s", (enclosure) => {
  test("a command answers with its exit code and both outputs, with their sizes", async () => {
    const folder = temporaryFolder({ "a.txt": "text" });
    const tool = createTool({ enclosure });
    expect(await runTool(tool, folder, { argv: ["cat", "a.txt"] })).toEqual({
      text: "exit code 0\nstdout (4 bytes):\ntext",
      failed: false,
    });
    const script = "process.stdout.write('out'); process.stderr.write('wrong'); process.exitCode = 3";
    expect(await runTool(tool, folder, { argv: [NODE, "-e", script] })).toEqual({
      text: "exit code 3\nstdout (3 bytes):\nout\nstderr (5 bytes):\nwrong",
      failed: true,
    });
  });

  test("arguments arrive as they were written, without a shell", async () => {
    const folder = temporaryFolder({ "keep.txt": "kept" });
    const given = [
      "-rf",
      "--",
      "$(touch pwned)",
      "`touch pwned`",
      "; rm -rf .",
      "a b",
      "",
      "*",
      "$HOME",
      "'\"\\",
      "é\n",
      "&& false",
      "> x",
    ];
    const script = "process.stdout.write(JSON.stringify(process.argv.slice(1)))";
    const { text } = await runTool(createTool({ enclosure }), folder, { argv: [NODE, "-e", script, "--", ...given] });
    expect(JSON.parse(text.split("\n").slice(2).join("\n"))).toEqual(given);
    expect(existsSync(join(folder, "pwned"))).toBe(false);
    expect(existsSync(join(folder, "keep.txt"))).toBe(true);
  });

  test("the environment has the allow-list, the chosen names and the mark, but no secrets", async () => {
    const folder = temporaryFolder();
    const tool = createTool({ enclosure, environmentNames: ["CHOSEN", "NOT_SET"] });
    const { text } = await runTool(tool, folder, { argv: ["env"] });
    const names = text.split("\n").flatMap((line) => /^([A-Z_]+)=/.exec(line)?.[1] ?? []);
    expect(names).toContain("PATH");
    expect(names).toContain("CHOSEN");
    const usual =
      /^(PATH|HOME|USER|LOGNAME|SHELL|TERM|TMPDIR|TZ|LANG(UAGE)?|LC_[A-Z]+|CHOSEN|ERRAND_COMMAND|(OLD)?PWD|_|SHLVL)$/;
    expect(names.filter((name) => !usual.test(name))).toEqual([]);
    expect(text).not.toContain("sk-secret");
  });

  test("it gets no input, and runs in the given folder", async () => {
    const folder = temporaryFolder({ "sub/here.txt": "x" });
    const tool = createTool({ enclosure });
    expect((await runTool(tool, folder, { argv: ["cat"] })).text).toBe("exit code 0");
    expect((await runTool(tool, folder, { argv: ["pwd"], folder: "sub" })).text).toContain(join(folder, "sub"));
  });

  test("at the time limit all processes are ended, also those in other sessions, and the output is shown", async () => {
    const folder = temporaryFolder();
    const seconds = ownSeconds();
    writeFileSync(
      join(folder, "spread.sh"),
      `echo started
setsid sleep ${seconds} &
setsid sh -c 'trap "" TERM HUP INT; (setsid sleep ${seconds} &) ; sleep ${seconds}' &
(sleep ${seconds} &)
nohup sleep ${seconds} >/dev/null 2>&1 &
sleep ${seconds}
`,
    );
    const limit = heldLimit(3);
    const tool = createTool({ enclosure, world: limit.world });
    const running = runTool(tool, folder, { argv: ["sh", "spread.sh"], timeout_seconds: 3 });
    await until(() => processesWith(seconds).length >= 6);
    limit.pass();
    const { text, failed } = await running;
    expect(processesWith(seconds)).toEqual([]);
    expect(failed).toBe(true);
    expect(text).toContain("ended at its time limit of 3 seconds");
    expect(text).toContain("started");
  });

  test("on abort all processes are ended before the answer comes", async () => {
    const folder = temporaryFolder();
    const seconds = ownSeconds();
    const stop = new AbortController();
    const script =
      `const options = { detached: true, stdio: "ignore" };` +
      `require("child_process").spawn("setsid", ["sleep", "${seconds}"], options).unref();` +
      "setInterval(() => {}, 1000)";
    const running = runTool(createTool({ enclosure }), folder, { argv: [NODE, "-e", script] }, stop.signal);
    await until(() => processesWith(`sleep\0${seconds}`).length >= 1);
    stop.abort();
    expect((await running).text).toContain("the call was stopped, and the command was ended");
    expect(processesWith(seconds)).toEqual([]);
  });

  test("processes that a command leaves behind are ended, and their open output delays nothing", async () => {
    const folder = temporaryFolder();
    const seconds = ownSeconds();
    const started = performance.now();
    const argv = ["sh", "-c", `setsid sleep ${seconds} & sleep ${seconds} & echo done`];
    expect((await runTool(createTool({ enclosure }), folder, { argv })).text).toBe(
      "exit code 0\nstdout (5 bytes):\ndone",
    );
    expect(processesWith(seconds)).toEqual([]);
    expect(performance.now() - started).toBeLessThan(30_000);
  });

  test("a fork bomb is ended at the limit", async () => {
    const folder = temporaryFolder();
    const seconds = ownSeconds();
    // Starts a process every few milliseconds, each in a session of its own, for ever.
    writeFileSync(join(folder, "bomb.sh"), `sleep 0.02; setsid sh bomb.sh ${seconds} & sleep 0.05; exit 0\n`);
    const { text } = await runTool(createTool({ enclosure }), folder, {
      argv: ["sh", "-c", `sh bomb.sh ${seconds} & sleep 60`],
      timeout_seconds: 3,
    });
    expect(text).toContain("time limit");
    await sleep(200);
    expect(processesWith(seconds)).toEqual([]);
  });

  test("a command with endless output is ended, and takes little memory", async () => {
    const folder = temporaryFolder();
    const before = process.memoryUsage().rss;
    const { text, failed } = await runTool(createTool({ enclosure }), folder, { argv: ["yes", "a line"] });
    expect(failed).toBe(true);
    expect(text).toContain("ended because it printed more than 268435456 bytes");
    expect(text).toMatch(/\[… \d+ of \d+ bytes left out here …\]/);
    expect(Buffer.byteLength(text)).toBeLessThan(60 * 1024);
    expect(process.memoryUsage().rss - before).toBeLessThan(150 * 1024 * 1024);
  });

  test("a missing program and one that cannot run are failures with a sentence", async () => {
    const folder = temporaryFolder({ "not-a-program": "text" });
    chmodSync(join(folder, "not-a-program"), 0o755);
    const tool = createTool({ enclosure });
    expect((await runTool(tool, folder, { argv: ["no-such-program"] })).text).toContain('there is no program "no-such');
    expect((await runTool(tool, folder, { argv: ["npm test"] })).text).toContain("each argument as an item of its own");
    expect((await runTool(tool, folder, { argv: ["./not-a-program"] })).failed).toBe(true);
    expect((await runTool(tool, folder, { argv: ["eval", "touch pwned"] })).failed).toBe(true);
    expect(existsSync(join(folder, "pwned"))).toBe(false);
  });
});

test("a shell is used only if the host allows it and the call asks for it", async () => {
  const folder = temporaryFolder();
  const argv = ["echo a; echo b | tr b c"];
  expect((await runTool(createTool(), folder, { argv, shell: true })).text).toContain("there is no shell here");
  const tool = createTool({ allowShell: true });
  expect((await runTool(tool, folder, { argv, shell: true })).text).toBe("exit code 0\nstdout (4 bytes):\na\nc");
  expect((await runTool(tool, folder, { argv })).text).toContain("there is no program");
  expect((await runTool(tool, folder, { argv: ["a", "b"], shell: true })).text).toContain("one text");
  expect(JSON.stringify(createTool().schema)).not.toContain("shell");
});

test("the working folder is inside the workspace", async () => {
  const folder = temporaryFolder({ "a.txt": "x" });
  symlinkSync(dirname(folder), join(folder, "out"));
  mkdirSync(join(folder, ".errand"));
  for (const [where, sentence] of [
    ["..", "leads out"],
    ["/", "leads out"],
    ["out", "leads out"],
    ["a.txt", "is a file"],
    [".errand", "own records"],
    ["missing", "there is no"],
  ] as const) {
    const { text, failed } = await runTool(createTool(), folder, { argv: ["pwd"], folder: where });
    expect([where, failed, text]).toEqual([where, true, expect.stringContaining(sentence)]);
  }
});

test("wrong arguments are failures that say what to write", async () => {
  const folder = temporaryFolder();
  for (const [input, sentence] of [
    [{}, "`argv` is missing"],
    [{ argv: "ls" }, "must be a list of texts"],
    [{ argv: [] }, "must be a list of texts"],
    [{ argv: ["ls", 7] }, "every item of `argv` must be a text"],
    [{ argv: ["a\0b"] }, "NUL"],
    [{ argv: ["x".repeat(100_000)] }, "at most 1000 items"],
    [{ argv: ["ls"], timeout_seconds: 0 }, "from 1 to 3600"],
    [{ argv: ["ls"], timeout_seconds: 4000 }, "from 1 to 3600"],
    [{ argv: ["ls"], env: {} }, "is not an argument"],
  ] as const) {
    expect(await runTool(createTool(), folder, input)).toMatchObject({
      failed: true,
      text: expect.stringContaining(sentence),
    });
  }
  const stopped = await runTool(createTool(), folder, { argv: ["touch", "x"] }, AbortSignal.abort());
  expect(stopped.text).toContain("Nothing was changed");
  expect(existsSync(join(folder, "x"))).toBe(false);
});

test.runIf(enclosed)("a daemon with a new session, no environment and no outputs ends with its command", async () => {
  const folder = temporaryFolder();
  const seconds = ownSeconds();
  const argv = ["sh", "-c", `env -i setsid -f sleep ${seconds} </dev/null >/dev/null 2>&1; sleep 60`];
  const limit = heldLimit(3);
  const running = runTool(createTool({ world: limit.world }), folder, { argv, timeout_seconds: 3 });
  await until(() => processesWith(`sleep\0${seconds}`).length >= 1);
  limit.pass();
  await running;
  expect(processesWith(seconds)).toEqual([]);
});

test.runIf(enclosed)(
  "a command ends when this process is killed, and cannot read the environment of others",
  async () => {
    const folder = temporaryFolder();
    const seconds = ownSeconds();
    const program = `
    import { createRunCommandTool } from ${JSON.stringify(join(import.meta.dirname, "run-command.ts"))};
    const after = (ms, then) => { const timer = setTimeout(then, ms); return () => clearTimeout(timer); };
    const world = { after, random: (n) => "5".repeat(n), wall: () => Date.now() };
    const tool = createRunCommandTool({ world, environment: process.env });
    const context = { workspace: ${JSON.stringify(folder)}, signal: new AbortController().signal };
    await tool.run({ argv: ["sh", "-c", "setsid sleep ${seconds} & sleep ${seconds}"] }, context);`;
    const owner = spawn(NODE, ["--input-type=module", "-e", program], { stdio: "ignore" });
    onTestFinished(() => void owner.kill("SIGKILL"));
    await until(() => processesWith(`sleep\0${seconds}`).length >= 2);
    owner.kill("SIGKILL");
    await until(() => processesWith(`sleep\0${seconds}`).length === 0);
    const shell = createTool({ allowShell: true });
    const { text } = await runTool(shell, folder, { argv: ["cat /proc/[0-9]*/environ | tr '\\0' '\\n'"], shell: true });
    expect(execFileSync("cat", [`/proc/${process.pid}/environ`], { encoding: "utf8" })).toContain("VITEST");
    expect(text).not.toContain("VITEST");
  },
);
