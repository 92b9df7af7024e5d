import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { cases } from "../evals/delegation.ts";
import { evaluate } from "../evals/evaluate.ts";
import { byContext, say } from "../src/testing/index.ts";
import { temporaryFolder } from "./support/test-errand.ts";

function runEvals(...args: string[]): {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
} {
  const env = { ...process.env, OPENAI_COMPATIBLE_BASE_URL: "" };
  return spawnSync(process.execPath, [join("evals", "run.ts"), ...args], { env, encoding: "utf8", timeout: 60_000 });
}

test("the evals have a case for every way in which a delegation can end", () => {
  expect(cases.map(({ name }) => name)).toEqual([
    "success",
    "background",
    "timeout",
    "malformed call",
    "depth",
    "disabled",
    "forgetful child",
    "silent child",
    "user message, awaited",
    "user message, background",
    "tag mode",
    "over the cap",
    "unavailable",
  ]);
});

test("every case passes on the scripted model, and the command says so as JSON", () => {
  const { status, stdout, stderr } = runEvals("--json");
  expect(stderr).toBe("");
  const said = JSON.parse(stdout) as { readonly cases: readonly { readonly problems: readonly string[] }[] };
  expect(said).toMatchObject({ model: "scripted", passed: cases.length, failed: 0 });
  expect(said.cases.flatMap(({ problems }) => problems)).toEqual([]);
  expect(status).toBe(0);
});

test("a model that does not follow its instructions fails, with exit code 1, a table and the reasons", () => {
  const results = temporaryFolder();
  const { status, stdout } = runEvals("--model", "offline/rehearsal", "--results", results);
  expect(status).toBe(1);
  expect(stdout).toMatch(/^disabled +FAIL/m);
  expect(stdout).toContain("no call was answered with not-enabled");
  expect(stdout.trimEnd().split("\n").at(-1)).toMatch(/^\d+ passed, \d+ failed$/);
  const [file = ""] = readdirSync(results);
  expect(file).toMatch(/^\d{4}-\d\d-\d\d-offline-rehearsal\.md$/);
  const page = readFileSync(join(results, file), "utf8");
  expect(page).toContain("# Delegation tools on offline/rehearsal\n");
  for (const { name } of cases) expect(page).toContain(`\n| ${name} | `);
  expect(page).toMatch(/^\| disabled \| FAIL \|.*no call was answered with not-enabled \|$/m);
});

test("an unavailable model or a wrong option gives one line and exit code 2", () => {
  for (const args of [["--model", "nothing/here"], ["--modle", "x"], ["stray"]]) {
    const { status, stdout, stderr } = runEvals(...args);
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr).toMatch(/^eval: [^\n]+\n$/);
  }
  expect(runEvals("--model", "openai-compatible/x").stderr).toContain("needs a base URL");
});

test.each(cases.map((given) => [given.name, given] as const))(
  "the case %s fails when the agent does nothing, and when its child does nothing",
  async (_, given) => {
    const idle = byContext([say("No."), say("No.")]);
    const lazy = await evaluate({ ...given, scripts: { ...given.scripts, parent: idle } }, null);
    expect(lazy.passed).toBe(false);
    // These cases have no child, or one that is meant to do nothing.
    if (["disabled", "silent child", "unavailable"].includes(given.name)) return;
    const alone = await evaluate({ ...given, scripts: { ...given.scripts, child: idle } }, null);
    expect(alone.passed).toBe(false);
  },
);
