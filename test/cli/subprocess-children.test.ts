/** Children that are programs, through the command line as users have it: with the runner `subprocess`. */

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test, vi } from "vitest";
import { agentFile, definedProject } from "./support/defined-project.ts";
import { openModelServer } from "./support/model-server.ts";

vi.setConfig({ testTimeout: 120_000 });

const MAIN = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));

/** It notes that it ran and what it was given, and reports. */
const CHILD = `
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";
const { GIVEN, NOT_GIVEN } = process.env;
createInterface({ input: process.stdin }).once("line", (line) => {
  const { correlation_id, task } = JSON.parse(line);
  appendFileSync("ran.txt", JSON.stringify({ task, GIVEN, NOT_GIVEN }) + "\\n");
  const result = { v: 1, type: "result", correlation_id, status: "ok", summary: "done: " + task, artifacts: [] };
  process.stdout.write(JSON.stringify(result) + "\\n", () => process.exit(0));
});
`;

test("a program of a folder runs only once the user trusts the folder, with the variables that it names", async () => {
  const call = { id: "c1", name: "subagent", arguments: JSON.stringify({ task: "Measure.", agent: "outer" }) };
  const models = await openModelServer(({ role, text }) =>
    role === "tool" ? { text: `the result: ${text}`, stop: "end" } : { calls: [call] },
  );
  const settings = { command: [process.execPath, "child.mjs"], env: ["GIVEN"] };
  const keys = `runner: subprocess\nsettings: ${JSON.stringify(settings)}\n`;
  const project = definedProject(
    { ".errand/agents/outer.md": agentFile("outer", "Be brief.", keys), "child.mjs": CHILD },
    {},
    MAIN,
  );
  const run = () => project.errandWith({ GIVEN: "yes", NOT_GIVEN: "no" }, "run", ...models.options, "Go.");
  const ran = join(project.folder, "ran.txt");

  const untrusted = await run();
  expect(untrusted.out).toContain("there is no agent definition");
  expect(existsSync(ran)).toBe(false);

  expect((await project.errand("trust")).out).toContain("outer.md: a runner, commands");
  const trusted = await run();
  expect(trusted.out).toContain("done: Measure.");
  expect(JSON.parse(readFileSync(ran, "utf8"))).toEqual({ task: "Measure.", GIVEN: "yes" });
});
