/**
 * A tool with arguments of zod and two agents, a typed child, streamed progress and a test are at most 45 lines, which
 * compile from the packed package on the TypeScript versions that people use, and run.
 */

import { execFile } from "node:child_process";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";
import { freshFolder, packedProject } from "./packed-project.ts";

const run = promisify(execFile);

beforeAll(async () => {
  await packedProject();
}, 240_000);

const TRIAL = "test/package/trial.ts";
const MOST_LINES = 45;

const COMPILERS = ["typescript-5.9", "typescript", "typescript-7"] as const;
const OPTIONS = {
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  target: "es2023",
  lib: ["es2023"],
  module: "nodenext",
  types: ["node"],
  noEmit: true,
  // The declarations of packages are checked below, those of Errand alone.
  skipLibCheck: true,
};

test("the trial is short, and needs no cast", () => {
  const program = readFileSync(TRIAL, "utf8");
  expect(program.trimEnd().split("\n").length).toBeLessThanOrEqual(MOST_LINES);
  expect(program).not.toMatch(/\bas (?!const\b)|<any>|: any\b|@ts-|!\./);
});

/** What the compiler prints. */
async function compile(
  compiler: (typeof COMPILERS)[number],
  folder: string,
  program: string,
  options: Partial<typeof OPTIONS> = {},
): Promise<string> {
  const compilerOptions = { ...OPTIONS, ...options };
  writeFileSync(join(folder, "trial.ts"), program);
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["trial.ts"] }));
  const tsc = resolve("node_modules", compiler, "bin", "tsc");
  try {
    return (await run(process.execPath, [tsc, "--pretty", "false", "-p", folder], { cwd: folder })).stdout;
  } catch (error) {
    const { stdout, stderr } = error as { readonly stdout: string; readonly stderr: string };
    return stdout + stderr;
  }
}

describe("from the packed package", () => {
  test.each(COMPILERS)("the trial compiles with %s", async (compiler) => {
    const folder = freshFolder(await packedProject());
    expect(await compile(compiler, folder, readFileSync(TRIAL, "utf8"))).toBe("");
  });

  test("the declarations of the package have no error of their own", async () => {
    const folder = freshFolder(await packedProject());
    const program = readFileSync(TRIAL, "utf8");
    const printed = await compile("typescript-7", folder, program, { skipLibCheck: false });
    expect(printed.split("\n").filter((line) => line.includes("node_modules/errand/"))).toEqual([]);
  });

  test("a wrong argument, a wrong agent and a missing field are errors of the compiler", async () => {
    const folder = freshFolder(await packedProject());
    const broken = readFileSync(TRIAL, "utf8")
      .replace("words.toUpperCase()", "words.toFixed()")
      .replace("data.year.toFixed()", "data.month")
      .replace("event.about", "event.nothing");
    const printed = await compile("typescript-7", folder, broken);
    expect(printed.match(/error TS\d+/g)).toHaveLength(3);
  });

  test("its test runs", async () => {
    const folder = freshFolder(await packedProject());
    copyFileSync(TRIAL, join(folder, "trial.test.ts"));
    const vitest = resolve("node_modules/vitest/vitest.mjs");
    const env = { ...process.env, NO_COLOR: "1", FORCE_COLOR: undefined };
    const { stdout } = await run(process.execPath, [vitest, "run", "--root", folder], { cwd: folder, env });
    expect(stdout).toMatch(/Tests +1 passed/);
  });
});
