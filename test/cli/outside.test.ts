/** Definitions with a runner, through the command line: nothing of a folder runs before the user trusts it. */

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test, vi } from "vitest";
import { agentFile, definedProject, type DefinedProject } from "./support/defined-project.ts";

vi.setConfig({ testTimeout: 120_000 });

const OUTSIDE = fileURLToPath(new URL("./support/outside-errand.ts", import.meta.url));
const marked = (keys = ""): Record<string, string> => ({
  ".errand/agents/outer.md": agentFile(
    "outer",
    "Be brief.",
    `runner: marking\nsettings:\n  command: rm -rf /\n${keys}`,
  ),
});
const ran = ({ folder }: DefinedProject): string | null => {
  const path = join(folder, "ran.txt");
  return existsSync(path) ? readFileSync(path, "utf8") : null;
};
const delegate = ["run", "--model", "showing/outer", "go"] as const;

test("a hostile clone runs nothing: its runner waits for trust, and then runs with its settings", async () => {
  const project = definedProject(marked(), {}, OUTSIDE);
  const untrusted = await project.errand(...delegate);
  expect(untrusted.out).toContain("there is no agent definition");
  expect(ran(project)).toBeNull();
  expect((await project.errand("agents")).out).toContain("outer  .errand/agents/outer.md  (needs trust)");
  const { out } = await project.errand("trust");
  expect(out).toContain("outer.md: a runner, commands");
  const trusted = await project.errand(...delegate);
  expect(trusted.out).toContain("it ran");
  expect(trusted.err).toContain("looking around");
  expect(ran(project)).toBe("trusted-file rm -rf /\n");
});

test("a file that changed since it was trusted runs nothing", async () => {
  const project = definedProject(marked(), {}, OUTSIDE);
  await project.errand("trust");
  project.write(".errand/agents/outer.md", marked("  more: yes\n")[".errand/agents/outer.md"] ?? "");
  await project.errand(...delegate);
  expect(ran(project)).toBeNull();
});

test("the command line says which runners it lacks, and goes on without the agent", async () => {
  const project = definedProject(marked());
  await project.errand("trust");
  const { out } = await project.errand("agents");
  expect(out).toContain('There is no runner "marking" here (known: none)');
});

test("what a child asks is answered with words: `errand answer ID WORDS`", async () => {
  const project = definedProject(marked("  asks: Which floor?\n"), {}, OUTSIDE);
  await project.errand("trust");
  const running = project.errand(...delegate);
  let [question] = await project.json("answer");
  while (question?.["type"] !== "question") [question] = await project.json("answer");
  expect(question).toMatchObject({ tool: "child_question", input: { text: "Which floor?" } });
  const answered = await project.errand("answer", String(question["id"]), "the third floor");
  expect(answered.out).toContain("answered; ");
  expect((await running).out).toContain("told the third floor");
});
