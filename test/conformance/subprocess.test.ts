/** The runner `subprocess` with real processes: its contract, and what is particular to programs. */

import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { RunnerEnd, RunnerRequest, RunnerSettings } from "../../src/contracts/runner.ts";
import type { Json } from "../../src/core/values/json.ts";
import { createSubprocessRunner, createSystemWorld } from "../../src/index.ts";
import { POSSIBLE_WAYS, until } from "../../src/processes/supervised.test-support.ts";
import { record, requestFor, type RunnerSubject, testRunner } from "./runner.ts";

vi.setConfig({ testTimeout: 90_000 });

const CHILD = join(import.meta.dirname, "children/behave.ts");
const SOURCES = join(import.meta.dirname, "../../src/index.ts");
const environment = { ...process.env, CHILD_KEY: "key-of-the-child", ERRAND_KEY: "key-of-errand" };

function settingsFor(behaviour: string, more: { readonly [name: string]: Json } = {}): RunnerSettings {
  const command = behaviour === "missing" ? ["no-such-program"] : [process.execPath, CHILD, behaviour];
  return { origin: "code", value: { command, ...more } };
}

function subjectWith(enclosure: "auto" | "process-table"): RunnerSubject {
  const options = { environment, enclosure };
  return {
    runner: createSubprocessRunner({ ...options, world: createSystemWorld() }),
    settings: (behaviour, limited) => settingsFor(behaviour, limited === true ? { silence_seconds: 1 } : {}),
    // What came from a journal or from JavaScript can be of any shape.
    untrusted: (behaviour) =>
      JSON.parse(JSON.stringify({ ...settingsFor(behaviour), origin: "folder" })) as RunnerSettings,
    startOwner(_, request) {
      const folder = temporaryFolder();
      const file = join(folder, "owner.mjs");
      const program = `
        import { readFileSync } from "node:fs";
        import { createSubprocessRunner, createSystemWorld } from ${JSON.stringify(SOURCES)};
        const { options, request } = JSON.parse(readFileSync(${JSON.stringify(join(folder, "request.json"))}, "utf8"));
        const runner = createSubprocessRunner({ ...options, world: createSystemWorld() });
        const nothing = () => undefined;
        const events = { progress: nothing, report: nothing, question: nothing, resumable: nothing, ended: nothing };
        runner.start(request, events);`;
      writeFileSync(file, program);
      writeFileSync(join(folder, "request.json"), JSON.stringify({ options, request }));
      return spawn(process.execPath, [file], { stdio: "ignore" }).pid ?? 0;
    },
  };
}

for (const [way, { prefix }] of POSSIBLE_WAYS) {
  const subject = subjectWith(prefix.length > 0 ? "auto" : "process-table");
  testRunner(`subprocess with ${way}`, () => subject);
}

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "errand-runner-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const runner = createSubprocessRunner({ environment, world: createSystemWorld() });

async function endOf(settings: RunnerSettings, more: Partial<RunnerRequest> = {}, used = runner): Promise<RunnerEnd> {
  const said = record();
  const session = used.start(requestFor(settings, more), said.events);
  onTestFinished(() => session.stop());
  await until(() => said.ends.length > 0);
  const [end] = said.ends;
  if (end === undefined) throw new Error("it has not ended");
  return end;
}

async function summaryOf(...given: Parameters<typeof endOf>): Promise<Record<string, Json>> {
  const end = await endOf(...given);
  if (end.status !== "ok") throw new Error(JSON.stringify(end));
  return JSON.parse(end.report?.text ?? "") as Record<string, Json>;
}

describe("subprocess", () => {
  test("scenario 46: a child gets the variables that its definition names, no other key, and none in argv", async () => {
    const { env, argv } = await summaryOf(settingsFor("surroundings", { env: ["CHILD_KEY", "NOT_SET"] }));
    expect(env).toMatchObject({ CHILD_KEY: "key-of-the-child", PATH: process.env["PATH"] });
    const usual =
      /^(PATH|HOME|USER|LOGNAME|SHELL|TERM|TMPDIR|TZ|LANG(UAGE)?|LC_[A-Z]+|CHILD_KEY|ERRAND_COMMAND|(OLD)?PWD|SHLVL|_)$/;
    expect(Object.keys(env as object).filter((name) => !usual.test(name))).toEqual([]);
    expect(JSON.stringify(env)).not.toContain("key-of-errand");
    expect(argv).toEqual([process.execPath, CHILD, "surroundings"]);
    const without = await summaryOf(settingsFor("surroundings"));
    expect(JSON.stringify(without)).not.toContain("key-of");
  });

  test("a child has its three streams and no other descriptor of Errand", async () => {
    const { open } = await summaryOf(settingsFor("surroundings"));
    const files = (open as string[]).filter((target) => target.startsWith("/") && !/^\/(dev|proc)\//.test(target));
    expect(files).toEqual([]);
  });

  test("scenario 47: the task, the arguments and every other word arrive as they were written", async () => {
    const hostile = "; rm -rf / $(touch pwned) `id` -x \"'\\\n\u0000\u2028 é 😀";
    const folder = temporaryFolder();
    const given = { task: hostile, context: hostile, files: ["-rf", "$HOME"], prompt: hostile, workspace: folder };
    const said = await summaryOf(settingsFor("words"), given);
    expect(said).toMatchObject({
      ...given,
      limits: { timeout_seconds: 120, max_iterations: 8, summary_bytes: 32_768 },
    });
    expect(readdirSync(folder)).toEqual([]);
    const args = ["; touch pwned", "$(id)", "-e", "a b", ""];
    const settings: RunnerSettings = { origin: "code", value: { ...settingsObject("surroundings"), args } };
    expect((await summaryOf(settings)).argv).toEqual([process.execPath, CHILD, "surroundings", ...args]);
  });

  test("scenario 48: a line that is not UTF-8, and a type that only Errand sends, are `envelope-json`", async () => {
    for (const behaviour of ["bad-text", "wrong-type"])
      expect(await endOf(settingsFor(behaviour))).toMatchObject({ status: "failed", code: "envelope-json" });
  });

  test("a request that is too large starts nothing and is `envelope-size`", async () => {
    const context = "\u0001".repeat(200_000);
    expect(await endOf(settingsFor("stubborn"), { context })).toMatchObject({
      status: "failed",
      code: "envelope-size",
    });
  });

  test("a child that fails says why, and one that says nothing has no result", async () => {
    expect(await endOf(settingsFor("declined"))).toEqual({
      status: "error",
      error: 'the child says that it ended as "error" (no-credit): no credit left',
      report: { text: "no credit left", artifacts: [] },
    });
    expect(await endOf(settingsFor("quiet"))).toEqual({
      status: "failed",
      code: "runner-died",
      error: "the child ended with exit code 0 before it gave a result",
    });
  });

  test("progress without a text keeps a child alive that is limited in its silence", async () => {
    expect(await endOf(settingsFor("beating", { silence_seconds: 1 }))).toMatchObject({ report: { text: "alive" } });
  });

  test("silence while a question is open does not count", async () => {
    const said = record();
    const session = runner.start(requestFor(settingsFor("ask", { silence_seconds: 1 })), said.events);
    onTestFinished(() => session.stop());
    await until(() => said.questions.length > 0);
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    session.tell({ type: "answer", question: "q1", text: "red" });
    await until(() => said.ends.length > 0);
    expect(said.ends).toMatchObject([{ report: { text: "answer q1: red" } }]);
  });

  test("logs are bounded, kept in a private file, and the last words are in the error", async () => {
    const logs = join(temporaryFolder(), "logs");
    mkdirSync(logs);
    const logging = createSubprocessRunner({ environment, world: createSystemWorld(), logs });
    const before = process.memoryUsage().rss;
    expect(await endOf(settingsFor("noisy"), { run: "noisy" }, logging)).toMatchObject({ status: "ok" });
    expect(process.memoryUsage().rss - before).toBeLessThan(150 * 1024 * 1024);
    const file = join(logs, "noisy-1.log");
    expect(readFileSync(file).length).toBe(16 * 1024 * 1024);
    expect(await endOf(settingsFor("crash"), { run: "crash" }, logging)).toMatchObject({
      code: "runner-died",
      error:
        "the child ended with exit code 3 before it gave a result; " +
        `its log is ${join(logs, "crash-1.log")}. Its last words: out of luck`,
    });
  });

  test("a temporary folder is the child's own, and is removed with it", async () => {
    const { folder } = await summaryOf(settingsFor("surroundings", { cwd: "temporary" }));
    expect(folder).toContain("errand-child-");
    expect(existsSync(folder as string)).toBe(false);
    const workspace = temporaryFolder();
    expect((await summaryOf(settingsFor("surroundings"), { workspace })).folder).toBe(workspace);
  });

  test("a folder that does not exist is `runner-unavailable`", async () => {
    const end = await endOf(settingsFor("answer"), { workspace: "/no/such/folder" });
    expect(end).toMatchObject({ code: "runner-unavailable", error: expect.stringContaining("/no/such/folder") });
  });

  test("only a definition that says so can be resumed", async () => {
    for (const [resumable, tokens] of [
      [true, 1],
      [false, 0],
    ] as const) {
      const said = record();
      runner.start(requestFor(settingsFor("answer", { resumable })), said.events);
      await until(() => said.ends.length > 0);
      expect(said.tokens).toHaveLength(tokens);
    }
  });

  test("the values of the named variables are secrets", () => {
    expect(runner.secrets?.(settingsFor("answer", { env: ["CHILD_KEY", "NOT_SET"] }))).toEqual(["key-of-the-child"]);
  });

  test.each<[Json, string]>([
    [{}, "`command` is missing"],
    [{ command: "ls" }, "must be an array"],
    [{ command: [] }, "must begin with a program"],
    [{ command: ["python3 child.py"] }, "there is no shell"],
    [{ command: ["a\0b"] }, "NUL"],
    [{ command: ["ls"], shell: true }, "`shell` is not known here"],
    [{ command: ["ls"], env: ["KEY=secret"] }, 'names of variables, not values: "KEY" is not a name'],
    [{ command: ["ls"], cwd: "/" }, "must be one of workspace, temporary"],
    [{ command: ["ls"], silence_seconds: 0 }, "at least 1"],
    ["ls", "valid JSON"],
  ])("wrong settings are refused with a sentence: %j", (value, sentence) => {
    expect(runner.check({ origin: "code", value })).toContain(sentence);
  });

  test("settings of code and of trusted files are taken", () => {
    for (const origin of ["code", "trusted-file"] as const)
      expect(runner.check({ origin, value: { command: ["ls"], cwd: "temporary", resumable: true } })).toBeNull();
  });
});

function settingsObject(behaviour: string): { readonly [name: string]: Json } {
  return { command: [process.execPath, CHILD, behaviour] };
}
