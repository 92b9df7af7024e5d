/** A pipe into `errand run` beside a task, and what it prints before it has a task. */

import { spawn } from "node:child_process";
import { openSync, closeSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
  errandCommand,
  type Finished,
  projectFolder,
  records,
  runErrand,
  startErrand,
} from "./support/errand-process.ts";
import { type ModelServer, openModelServer } from "./support/model-server.ts";
import { saidOf } from "./support/worked-project.ts";

vi.setConfig({ testTimeout: 60_000 });

const project = { folder: "", remove: (): void => undefined };
beforeEach(() => Object.assign(project, projectFolder()));
afterEach(() => project.remove());

/** A model that repeats what it was asked. */
const echo = (): Promise<ModelServer> => openModelServer(({ text }) => ({ text: `asked: ${text}` }));

describe("standard input beside a task", () => {
  test("a pipe is appended to the task after a blank line", async () => {
    const { options } = await echo();
    const how = { ...project, input: "-old\n+new\n" };
    const { out } = await runErrand(["run", ...options, "review"], how);
    expect(out).toBe("asked: review\n\n-old\n+new\n");
    const alone = await runErrand(["run", ...options], how);
    expect(alone.out).toBe("asked: -old\n+new\n");
    const dash = await runErrand(["run", ...options, "-"], how);
    expect(dash.out).toBe("asked: -old\n+new\n");
  });

  test("an empty pipe changes nothing", async () => {
    const { options } = await echo();
    const { out, err } = await runErrand(["run", ...options, "review"], { ...project, input: " \n" });
    expect(out).toBe("asked: review\n");
    expect(err).not.toContain("standard input");
  });

  test("a file is appended, and /dev/null is not read", async () => {
    const { options } = await echo();
    writeFileSync(join(project.folder, "diff"), "+new\n");
    const from = async (path: string): Promise<string> => {
      const [file = "", ...args] = errandCommand(["run", ...options, "review"]);
      const input = openSync(path, "r");
      const child = spawn(file, args, { cwd: project.folder, stdio: [input, "pipe", "ignore"] });
      closeSync(input);
      let out = "";
      child.stdout?.setEncoding("utf8").on("data", (piece: string) => (out += piece));
      await new Promise((resolve) => child.on("close", resolve));
      return out;
    };
    expect(await from(join(project.folder, "diff"))).toBe("asked: review\n\n+new\n");
    expect(await from("/dev/null")).toBe("asked: review\n");
  });

  test("an open pipe without data does not delay the task, and a notice says so", async () => {
    const { options } = await echo();
    const running = startErrand(["run", ...options, "review"], { ...project, open: true });
    const { code, out, err } = await running.finished;
    expect({ code, out }).toEqual({ code: 0, out: "asked: review\n" });
    expect(err).toContain("nothing came on it within 3 s");
  });

  test("a slow pipe is read to its end", async () => {
    const { options } = await echo();
    const [file = "", ...args] = errandCommand(["run", ...options, "review"]);
    const child = spawn(file, args, { cwd: project.folder, stdio: ["pipe", "pipe", "ignore"] });
    let out = "";
    child.stdout.setEncoding("utf8").on("data", (piece: string) => (out += piece));
    child.stdin.write("one\n");
    setTimeout(() => child.stdin.end("two\n"), 4_000);
    await new Promise((resolve) => child.on("close", resolve));
    expect(out).toBe("asked: review\n\none\ntwo\n");
  });
});

test("without a task the model is printed before anything else", async () => {
  const { options } = await echo();
  const { err, out } = await runErrand(["run", ...options], project);
  expect(err).toMatch(
    /^agents will use openai-compatible\/m \(because --model names it\)\nno task was given; a demonstr/,
  );
  expect(out).toMatch(/^asked: Explain what this project is/);
});

test("--allow with an unknown tool is an error that names the tools, before a store is created", async () => {
  const failed = async (tool: string): Promise<Finished> => runErrand(["run", "--allow", tool, "x"], project);
  const { code, out, err } = await failed("write_files:docs/**");
  expect(saidOf(err)).toMatchObject({ code: "usage", lines: 2, message: expect.stringContaining('"write_files"') });
  expect(err).toContain("The tools are list_files, search_text, read_file, write_file, edit_file, run_command.");
  expect({ code, out }).toEqual({ code: 2, out: "" });
  expect((await failed("write_file,shell")).err).toContain('"shell"');
});

test("doctor checks the base URL and the model of errand config", async () => {
  const { url } = await echo();
  const home = join(project.folder, "home");
  const errand = (...args: string[]): Promise<Finished> => runErrand(args, { ...project, home });
  const check = async (name: string): Promise<Record<string, unknown> | undefined> =>
    records((await errand("doctor", "--json")).out).find((line) => line["name"] === name);
  expect(await check("openai-compatible")).toMatchObject({ text: expect.stringContaining("not set up") });
  await errand("config", "set", "--global", "baseUrl", `${url}/v1`);
  await errand("config", "set", "--global", "model", "openai-compatible/m");
  expect(await check("openai-compatible")).toMatchObject({ level: "ok", text: expect.stringContaining("installed") });
  expect(await check("model")).toMatchObject({
    level: "ok",
    text: expect.stringMatching(/^errand run uses openai-compatible\/m \(because .+config.json names it\)$/),
  });
  await errand("config", "set", "--global", "model", "anthropic/claude");
  expect(await check("model")).toMatchObject({ level: "broken", text: expect.stringContaining("ANTHROPIC_API_KEY") });
});
