/** `errand run` as a program among others: no terminal, another process, real files. */

import { mkdirSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { projectFolder, records, runErrand, SLOW, startErrand, storeOf } from "./support/errand-process.ts";

// A loaded machine may take long to start a process, so the limits are generous.
vi.setConfig({ testTimeout: 60_000 });

const project = { folder: "", remove: (): void => undefined };
beforeEach(() => Object.assign(project, projectFolder()));
afterEach(() => project.remove());

describe("a task", () => {
  test("is delegated, and only its answer is on standard output", async () => {
    const { code, out, err } = await runErrand(["run", "what opens the store?"], project);
    expect(err).toMatch(/^model offline\/rehearsal \(because .+\), store \/\S+\/store-1\.db$/m);
    expect(err).toMatch(/^worker ".+" started$/m);
    expect(err).toMatch(/^waiting for \d open runs?$/m);
    expect(err).toMatch(/^worker ".+" ended: ok \(/m);
    expect(err).toMatch(/^done in /m);
    expect(err).toContain("errand run --model");
    // The offline model reports no tokens.
    expect(err).not.toContain("token");
    expect(out).toContain("store.ts");
    expect(out).not.toContain("started");
    expect(code).toBe(0);
    expect(existsSync(storeOf(project.folder))).toBe(true);
  });

  test("is reported without colours in a pipe, and in CI too", async () => {
    const how = { ...project, env: { CI: "true" } };
    for (const args of [
      ["run", "the store"],
      ["show", "nothing"],
    ]) {
      const { out, err } = await runErrand(args, how);
      expect(err).not.toBe("");
      expect(out + err).not.toContain("\u001b");
    }
  });

  test("is the demonstration when there is none", async () => {
    const { code, out } = await runErrand(["run", "--store", "memory"], project);
    expect(out).toContain("A sample project.");
    expect(code).toBe(0);
    expect(existsSync(join(project.folder, ".errand"))).toBe(false);
  });

  test("comes from standard input with -", async () => {
    const { code, out } = await runErrand(["run", "-", "--store", "memory"], { ...project, input: "the store\n" });
    expect(out).toContain("store.ts");
    expect(code).toBe(0);
  });

  test("that is empty is a usage error", async () => {
    for (const args of [
      ["run", "-"],
      ["run", " "],
    ]) {
      const { code, out, err } = await runErrand(args, project);
      expect({ code, out, lines: err.trimEnd().split("\n").length }).toEqual({ code: 2, out: "", lines: 2 });
    }
    expect(readdirSync(project.folder)).not.toContain(".errand");
  });
});

describe("--json", () => {
  test("prints one object per line, with the answer and the end last", async () => {
    const { code, out, err } = await runErrand(["run", "--json", "what opens the store?"], project);
    expect(err).toBe("");
    const lines = records(out);
    const types = lines.map((line) => line["type"]);
    expect(types[0]).toBe("agent-opened");
    expect(types.slice(-2)).toEqual(["answer", "done"]);
    for (const type of [
      "run-created",
      "run-started",
      "tool-started",
      "tool-ended",
      "run-ended",
      "message",
      "turn-ended",
    ]) {
      expect(types).toContain(type);
    }
    const created = lines.find((line) => line["type"] === "run-created");
    const { tree } = lines[0] ?? {};
    expect(created).toEqual({
      type: "run-created",
      at: expect.any(Number),
      run: expect.any(String),
      agent: expect.any(String),
      parent: tree,
      name: expect.any(String),
      definition: "worker",
      mode: "background",
      cursor: "3.1",
    });
    expect(lines.filter((line) => line["type"] === "rest")).toEqual([{ type: "rest", tree }]);
    const texts = lines.filter((line) => line["type"] === "text" && line["agent"] === tree);
    const sent = lines.filter((line) => line["type"] === "message");
    expect(texts.map((line) => line["text"]).join("")).toBe(sent.map((line) => line["text"]).join(""));
    const ended = lines.filter((line) => line["type"] === "run-ended");
    expect(lines.at(-1)).toEqual({
      type: "done",
      outcome: "done",
      exit: 0,
      tree,
      store: storeOf(project.folder),
      model: "offline/rehearsal",
      because: "there is no key and no running Ollama",
      runs: { total: ended.length, ok: ended.length, notOk: 0, open: 0 },
      tokens: expect.any(Number),
      cost: 0,
      estimated: 0,
      elapsedMs: expect.any(Number),
      messages: [1, 2].map(() => ({ id: expect.any(String), kind: "answer", text: expect.any(String) })),
      answer: expect.stringMatching(/^I asked 2 helpers.+\n\nYou asked: /),
    });
    expect(lines.at(-2)).toEqual({ type: "answer", tree, text: lines.at(-1)?.["answer"] });
    expect(code).toBe(0);
  });

  test("prints an error as an object too", async () => {
    const { code, out } = await runErrand(["run", "--json", "--store", project.folder], project);
    expect(records(out)).toEqual([
      { type: "error", code: "store-unreadable", message: expect.any(String), remedy: expect.any(String) },
    ]);
    expect(code).toBe(1);
  });
});

describe("usage errors", () => {
  test.each([
    ["an option", ["run", "--colour"], "unknown option '--colour'"],
    ["an option of the program", ["--colour"], "unknown option '--colour'"],
    ["a command", ["fly"], "unknown command 'fly'"],
    ["an argument too many", ["run", "two", "words"], "too many arguments"],
    ["a missing value", ["run", "--store"], "argument missing"],
    ["a time that is none", ["run", "--timeout", "soon"], 'not "soon"'],
  ])("%s that is not known: exit 2, one sentence, a hint", async (_what, args, sentence) => {
    const { code, out, err } = await runErrand(args, project);
    const [first, hint, ...more] = err.trimEnd().split("\n");
    expect(first).toContain(sentence);
    expect(first).toMatch(/^error: .+ \(usage\)$/);
    expect(hint).toMatch(/^ {2}\S/);
    expect({ code, out, more }).toEqual({ code: 2, out: "", more: [] });
    expect(readdirSync(project.folder)).not.toContain(".errand");
  });
});

describe("a store that cannot be used: exit 1, one sentence with its code, nothing changed", () => {
  async function refused(store: string, code: string): Promise<string> {
    const { code: exit, out, err } = await runErrand(["run", "--store", store, "x"], project);
    expect(err).toMatch(new RegExp(`^error: .+ \\(${code}\\)\\n  .+\\n$`));
    expect({ exit, out }).toEqual({ exit: 1, out: "" });
    return err;
  }

  test("a folder", async () => {
    const path = join(project.folder, "folder");
    mkdirSync(path);
    await refused(path, "store-unreadable");
    expect(readdirSync(path)).toEqual([]);
  });

  test("a text file", async () => {
    const path = join(project.folder, "README.md");
    const before = readFileSync(path, "utf8");
    await refused(path, "store-unreadable");
    expect(readFileSync(path, "utf8")).toBe(before);
  });

  test("a store of a newer version", async () => {
    const path = join(project.folder, "new.db");
    await runErrand(["run", "--store", path], project);
    const db = new DatabaseSync(path);
    db.exec("pragma user_version = 9999");
    db.close();
    const before = readFileSync(path);
    await refused(path, "store-too-new");
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  test("a store with another owner, with the owner's name", async () => {
    const path = join(project.folder, "owned.db");
    const owner = startErrand(["run", "--model", "slow/60000", "--store", path], { ...project, entry: SLOW });
    await owner.seen("opened");
    const err = await refused(path, "store-owned");
    expect(err).toMatch(/pid \d+/);
    owner.kill("SIGINT");
    expect((await owner.finished).code).toBe(130);
  });
});

test("an unavailable model is reported before a store is created", async () => {
  const { code, out, err } = await runErrand(["run", "--model", "anthropic/claude", "a task"], project);
  expect(err).toMatch(
    /^error: The model anthropic\/claude needs a key: set ANTHROPIC_API_KEY \(model-unknown\)\n {2}.+offline\/rehearsal.+\n$/,
  );
  expect({ code, out }).toEqual({ code: 1, out: "" });
  expect(readdirSync(project.folder)).not.toContain(".errand");
});

test("a stack is shown with --debug only", async () => {
  const args = ["run", "--store", project.folder];
  expect((await runErrand(args, project)).err).not.toContain("    at ");
  expect((await runErrand([...args, "--debug"], project)).err).toContain("    at ");
});

test("a failed turn is exit 1, with the provider's message escaped", async () => {
  const { code, out, err } = await runErrand(["run", "--model", "broken/1", "x"], { ...project, entry: SLOW });
  expect(err).toContain("error: The turn ended without an answer (provider-error): the provider said no (turn-failed)");
  expect(err).not.toContain("\u001b");
  expect({ code, out }).toEqual({ code: 1, out: "" });
});

test("a turn that reaches a limit is exit 3", async () => {
  const { code, err } = await runErrand(["run", "--model", "looping/0", "x"], { ...project, entry: SLOW });
  expect(err).toMatch(/^error: The turn ended without an answer \(iteration-limit\) \(turn-failed\)$/m);
  expect(code).toBe(3);
});

test("a temporary failure of the model is retried with a notice", async () => {
  const { code, err } = await runErrand(["run", "--model", "flaky/1", "the store"], { ...project, entry: SLOW });
  expect(err).toMatch(/^orchestrator: the model failed, attempt 2 in 1\.[0-3]s: overloaded$/m);
  expect(code).toBe(0);
});

test("--timeout cancels, says what is stored, and is exit 3", async () => {
  const args = ["run", "--model", "slow/60000", "--timeout", "0.3", "x"];
  const { code, out, err } = await runErrand(args, { ...project, entry: SLOW });
  expect(err).toContain("kept: the conversation");
  expect(err).toMatch(/^error: .+ \(turn-timeout\)$/m);
  expect({ code, out }).toEqual({ code: 3, out: "" });
});

describe("the program", () => {
  test("says in one line that Node.js is too old, before it loads anything else", async () => {
    const older = 'Object.defineProperty(process,"versions",{value:{...process.versions,node:"22.17.9"}})';
    const options = `--import=data:text/javascript,${encodeURIComponent(older)}`;
    const { code, out, err } = await runErrand(["run"], { ...project, env: { NODE_OPTIONS: options } });
    expect(err).toMatch(
      /^error: Errand needs Node\.js 22\.18 or newer, and this is 22\.17\.9 \(node-too-old\)\n {2}.+\n$/,
    );
    expect({ code, out }).toEqual({ code: 1, out: "" });
  });

  test("prints the version of the package", async () => {
    const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
    for (const option of ["--version", "-V"]) {
      expect(await runErrand([option], project)).toMatchObject({ code: 0, out: `${version}\n`, err: "" });
    }
  });

  test("has help with examples, for itself and for a command", async () => {
    for (const args of [["--help"], ["run", "--help"], ["help", "run"], []]) {
      const { code, out, err } = await runErrand(args, project);
      expect(out).toContain("Usage: errand");
      expect(out).toMatch(/Examples:\n {2}errand (run|demo)/);
      expect({ code, err }).toEqual({ code: 0, err: "" });
    }
  });
});
