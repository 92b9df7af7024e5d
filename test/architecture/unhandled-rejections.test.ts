/** The program, the processes that tests start and the settings of the checks all report unhandled rejections. */

import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import config from "../../vitest.config.ts";
import { ROOT, sourceFiles } from "./source-files.ts";

const filesWith = (found: ReturnType<typeof sourceFiles>, words: RegExp): string[] =>
  found.filter(({ text }) => words.test(text)).map(({ path }) => path);

test("no code of the package listens for unhandled rejections, and only the command line for exceptions", () => {
  const src = sourceFiles("src");
  expect(src.length).toBeGreaterThan(100);
  expect(filesWith(src, /unhandledRejection/)).toEqual([]);
  expect(filesWith(src, /uncaughtException/)).toEqual(["src/cli/process-host.ts"]);
});

test("vitest fails at an unhandled rejection, and no test or script turns that off", () => {
  expect(JSON.stringify(config)).not.toContain("dangerouslyIgnoreUnhandledErrors");
  const flag = /--unhandled-rejections|dangerouslyIgnoreUnhandledErrors/;
  const own = "test/architecture/unhandled-rejections.test.ts";
  expect(filesWith(sourceFiles("test", "scripts", "src"), flag).filter((path) => path !== own)).toEqual([]);
  expect(readFileSync(join(ROOT, "package.json"), "utf8")).not.toMatch(flag);
  expect(process.env["NODE_OPTIONS"] ?? "").not.toMatch(flag);
});

test("the command line ends with an error at an unhandled rejection", async () => {
  const host = JSON.stringify(join(ROOT, "src/cli/process-host.ts"));
  const program = `
    const { createProcessHost } = await import(${host});
    createProcessHost();
    Promise.reject(new Error("no one caught this"));
    setTimeout(() => process.exit(0), 5_000);`;
  const { code, err } = await new Promise<{ code: unknown; err: string }>((resolve) => {
    execFile(process.execPath, ["--input-type=module", "-e", program], (error, _out, stderr) =>
      resolve({ code: error?.code, err: stderr }),
    );
  });
  expect(err).toContain("no one caught this");
  expect(code).toBe(1);
});

test("floating and misused promises are errors of the linter in every folder", () => {
  const lint = JSON.parse(readFileSync(join(ROOT, ".oxlintrc.json"), "utf8")) as {
    readonly options: { readonly typeAware?: boolean };
    readonly ignorePatterns: readonly string[];
    readonly rules: Readonly<Record<string, unknown>>;
    readonly overrides: readonly { readonly rules: Readonly<Record<string, unknown>> }[];
  };
  expect(lint.options.typeAware).toBe(true);
  expect(lint.ignorePatterns).toEqual(["dist/", "coverage/", "node_modules/"]);
  for (const rule of ["typescript/no-floating-promises", "typescript/no-misused-promises"]) {
    expect(lint.rules[rule]).toBe("error");
    expect(lint.overrides.filter(({ rules }) => rule in rules)).toEqual([]);
  }
});
