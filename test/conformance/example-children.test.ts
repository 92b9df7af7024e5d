/** The example children run as children of the runner `subprocess`. */

import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { RunnerEnd, RunnerRequest } from "../../src/contracts/runner.ts";
import { createSubprocessRunner, createSystemWorld } from "../../src/index.ts";

const CHILDREN = "examples/children";
const python = findPython();

/** Python is not needed to develop Errand. */
function findPython(): string | null {
  const { status } = spawnSync("python3", ["-c", "pass"]);
  return status === 0 ? "python3" : null;
}

/** Runs a child in a folder with two files of five words. Questions are answered with `answer`. */
async function runChild(command: readonly string[], answer: string | null = null): Promise<RunnerEnd> {
  const workspace = mkdtempSync(join(tmpdir(), "errand-children-"));
  onTestFinished(() => rmSync(workspace, { recursive: true, force: true }));
  writeFileSync(join(workspace, "a.txt"), "one two three\n");
  writeFileSync(join(workspace, "b.txt"), "four five\n");
  const request: RunnerRequest = {
    run: "run-1",
    attempt: 1,
    tree: "tree",
    agent: "agent",
    prompt: "",
    task: 'Say "Hello" to $USER',
    context: "",
    files: ["a.txt", "b.txt"],
    limits: { timeoutSeconds: 60, iterations: 8, summaryBytes: 32_768, graceSeconds: 5 },
    outputSchema: null,
    workspace,
    settings: { origin: "code", value: { command } },
  };
  const runner = createSubprocessRunner({ world: createSystemWorld(), environment: process.env });
  return new Promise((ended) => {
    const nothing = (): void => undefined;
    const session = runner.start(request, {
      progress: nothing,
      resumable: nothing,
      report: nothing,
      question: ({ id }) => session.tell({ type: "answer", question: id, text: answer }),
      ended,
    });
  });
}

test.each(readdirSync(CHILDREN))("the child %s has about 30 lines", (name) => {
  expect(readFileSync(join(CHILDREN, name), "utf8").split("\n").length).toBeLessThanOrEqual(32);
});

test("the child in TypeScript counts words", async () => {
  const child = [process.execPath, resolve(CHILDREN, "count-words.ts")];
  expect(await runChild(child)).toMatchObject({ status: "ok", report: { text: "5 words", data: { words: 5 } } });
});

test("the child in shell counts files", async () => {
  const child = ["sh", resolve(CHILDREN, "count-files.sh")];
  expect(await runChild(child)).toMatchObject({ status: "ok", report: { text: "2 files" } });
});

test.skipIf(python === null)(
  `the child in Python asks, and counts letters${python === null ? " (python3 is not installed)" : ""}`,
  async () => {
    const child = [python ?? "", resolve(CHILDREN, "ask_first.py")];
    expect(await runChild(child, "no")).toMatchObject({ status: "ok", report: { text: "14 letters" } });
    expect(await runChild(child, "yes")).toMatchObject({ status: "ok", report: { data: { letters: 6 } } });
    expect(await runChild(child)).toMatchObject({ status: "error", report: { text: "nobody wanted to answer" } });
  },
);
