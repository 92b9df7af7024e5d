import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const examples = readdirSync("examples").filter((name) => name.endsWith(".ts"));

test("there are examples", () => {
  expect(examples.length).toBeGreaterThan(0);
});

test.each(examples)("the example %s runs, and its own assertions hold", (name) => {
  const run = spawnSync(process.execPath, [join("examples", name)], { encoding: "utf8", timeout: 60_000 });
  expect(run.stderr).toBe("");
  expect(run.status).toBe(0);
});
