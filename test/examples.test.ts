/** Every example runs from the packed package, in a folder of its own, and its own assertions hold. */

import { execFile } from "node:child_process";
import { copyFileSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, expect, test } from "vitest";
import { freshFolder, packedProject } from "./package/packed-project.ts";

const run = promisify(execFile);

beforeAll(async () => {
  await packedProject();
}, 240_000);

const MOST_LINES = 80;
const examples = readdirSync("examples").filter((name) => name.endsWith(".ts"));

test("there are examples", () => {
  expect(examples.length).toBeGreaterThanOrEqual(8);
});

test.each(examples)("the example %s is short, says what it shows, and asserts its result", (name) => {
  const program = readFileSync(join("examples", name), "utf8");
  expect(program.trimEnd().split("\n").length).toBeLessThan(MOST_LINES);
  expect(program).toMatch(/^\/\*\*/);
  expect(program).toContain('from "node:assert/strict"');
});

test.each(examples)("the example %s runs, and its own assertions hold", async (name) => {
  const folder = freshFolder(await packedProject());
  copyFileSync(join("examples", name), join(folder, name));
  const { stderr } = await run(process.execPath, [name], { cwd: folder, timeout: 60_000 });
  expect(stderr).toBe("");
});
