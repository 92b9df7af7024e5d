/** Questions in a real terminal: what is shown, which keys count, and what an answer records. */

import { stripVTControlCharacters } from "node:util";
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { asked } from "../cli/support/asked.ts";
import { ENTER, startChat } from "../cli/support/chat-process.ts";
import {
  type Finished,
  projectFolder,
  records,
  runErrand,
  type RunningErrand,
  SLOW,
  startErrand,
  terminalAvailable,
} from "../cli/support/errand-process.ts";
import { screenOf } from "../cli/support/screen.ts";

vi.setConfig({ testTimeout: 60_000 });

const project = { folder: "", remove: (): void => undefined };
const terminal = { columns: 100, rows: 40 };
let home = "";

beforeEach(() => {
  Object.assign(project, projectFolder());
  home = join(project.folder, "..", `${project.folder.split("/").at(-1)}-home`);
  mkdirSync(home);
});
afterEach(() => {
  project.remove();
  rmSync(home, { recursive: true, force: true });
});

const path = (name: string): string => join(project.folder, name);
const file = (name: string): string => readFileSync(path(name), "utf8");

function start(calls: readonly object[], ...args: readonly string[]): RunningErrand {
  writeFileSync(path("calls.json"), JSON.stringify(calls));
  const how = { folder: project.folder, entry: SLOW, home, terminal };
  return startErrand(["run", "--model", "calling/300", "go", ...args], how);
}

function errand(...args: readonly string[]): Promise<Finished> {
  return runErrand(args, { folder: project.folder, entry: SLOW, home });
}

const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));
const write = (name: string, content: string): object => ({ name: "write_file", input: { path: name, content } });

describe.runIf(terminalAvailable)("run", () => {
  test("keys that are typed before or while the question is drawn do not answer it", async () => {
    const running = start([write("a.txt", "new\n")]);
    await running.seen("Ctrl-C cancels");
    running.type("y\ry\r");
    await asked(running, "asks to use write_file", false);
    running.type("y\r");
    await asked(running, "asks to use write_file");
    await pause(300);
    expect(existsSync(path("a.txt"))).toBe(false);
    // Enter after a key that was too early is no answer either.
    running.type("\r");
    await pause(300);
    expect(existsSync(path("a.txt"))).toBe(false);
    running.type("y\r");
    expect((await running.finished).code).toBe(0);
    expect(file("a.txt")).toBe("new\n");
  });

  test("the question names tool, path and folder, and shows the change with invisible characters spelled out", async () => {
    writeFileSync(path("a.txt"), "one\ntwo\nthree\n");
    const running = start([write("a.txt", "one\n2\u202e\u001b[2J\nthree\n")]);
    await asked(running, "asks to use write_file");
    const { lines } = screenOf(running.shown());
    const at = lines.findIndex((line) => line.includes("asks to use write_file"));
    expect(lines.slice(at, at + 10)).toEqual([
      "? The agent asks to use write_file",
      "  path     a.txt",
      `  folder   ${project.folder}`,
      "  writes   19 bytes, in the place of 14 bytes",
      '  always   {"decision":"allow","tool":"write_file","path":"./a.txt"}',
      "  @@ -1,3 +1,3 @@",
      "   one",
      "  -two",
      "  +2\\u{202e}\\u{1b}[2J",
      "   three",
    ]);
    running.type("n not like this\r");
    expect((await running.finished).out).toContain("says: not like this");
    expect(file("a.txt")).toBe("one\ntwo\nthree\n");
  });

  test("a long change is shown in part, and in full on request", async () => {
    const running = start([write("a.txt", Array.from({ length: 60 }, (_, index) => `line ${index}\n`).join(""))]);
    await asked(running, "asks to use write_file");
    expect(running.shown()).toContain("21 more lines");
    expect(running.shown()).not.toContain("+line 59");
    running.type("d\r");
    await running.seen("+line 59");
    running.type("y\r");
    expect((await running.finished).code).toBe(0);
    expect(file("a.txt").split("\n")).toHaveLength(61);
  });

  test("a command is shown with unambiguous arguments", async () => {
    const running = start([{ name: "run_command", input: { argv: ["echo", "a b", "c;rm -rf /", "it's"] } }]);
    await asked(running, "asks to use run_command");
    expect(running.shown()).toContain(`  command  echo 'a b' 'c;rm -rf /' 'it'\\''s'`);
    running.type("n\r");
    await running.finished;
  });

  test("a file that changed between the question and the answer is not overwritten", async () => {
    writeFileSync(path("a.txt"), "old\n");
    const running = start([write("a.txt", "new\n")]);
    await asked(running, "asks to use write_file");
    writeFileSync(path("a.txt"), "my own work\n");
    running.type("y\r");
    expect((await running.finished).out).toContain("the file changed since the change was shown");
    expect(file("a.txt")).toBe("my own work\n");
  });

  test("always in this conversation: the same call is not asked about again, another call is", async () => {
    const running = start([write("a.txt", "1\n"), write("a.txt", "2\n"), write("b.txt", "3\n")]);
    await asked(running, "path     a.txt");
    running.type("c\r");
    await asked(running, "path     b.txt");
    expect(file("a.txt")).toBe("2\n");
    running.type("n\r");
    await running.finished;
    expect(existsSync(join(home, ".config"))).toBe(false);
  });

  test("always in this project: the rule is stored in the user's configuration and applies to the next command", async () => {
    const running = start([write("a.txt", "1\n")]);
    await asked(running, "path     a.txt");
    running.type("p\r");
    expect((await running.finished).code).toBe(0);
    const config = JSON.parse(readFileSync(join(home, ".config/errand/config.json"), "utf8")) as unknown;
    const rule = { decision: "allow", tool: "write_file", path: "./a.txt" };
    expect(config).toEqual({ projects: { [realpathSync(project.folder)]: { permissions: [rule] } } });
    const inFolder = existsSync(path(".errand")) ? readdirSync(path(".errand")) : [];
    expect(inFolder.filter((name) => name.endsWith(".json"))).toEqual([]);
    writeFileSync(path("calls.json"), JSON.stringify([write("a.txt", "2\n"), write("docs/a.txt", "3\n")]));
    const next = await errand("run", "--model", "calling/1", "go", "--json");
    expect(file("a.txt")).toBe("2\n");
    expect(next.err).not.toContain("is no setting");
    const questions = records(next.out).filter(({ type }) => type === "question-asked");
    expect(questions).toMatchObject([{ input: { path: "docs/a.txt" } }]);
  });

  test("invalid arguments are never asked about", async () => {
    const running = start([{ name: "write_file", input: { path: "a.txt" } }]);
    const { code, out } = await running.finished;
    expect(code).toBe(0);
    expect(out).not.toContain("asks to use");
    // The terminal shows `content` as code, in a colour.
    expect(stripVTControlCharacters(out)).toContain("content is missing");
  });
});

describe.runIf(terminalAvailable)("chat", () => {
  test("a line typed ahead does not answer, and the unfinished line is restored after the answer", async () => {
    writeFileSync(path("calls.json"), JSON.stringify([write("a.txt", "new\n")]));
    const chat = await startChat(project.folder, ["--model", "calling/300"], { home, terminal });
    chat.type(`go${ENTER}`);
    await chat.seesLine("› go");
    chat.type("yes, and then");
    await chat.seesLine("› yes, and then");
    await chat.seesLine("? The agent asks to use write_file");
    chat.type(`y${ENTER}`);
    await chat.seesLine("y allows it");
    chat.type(ENTER);
    await pause(300);
    expect(existsSync(path("a.txt"))).toBe(false);
    chat.type(`y${ENTER}`);
    await chat.seesLine("It is over");
    expect(file("a.txt")).toBe("new\n");
    await chat.seesLine("› yes, and then");
    chat.type("\u0015\u0004");
    await chat.finished;
  });
});

describe.runIf(terminalAvailable)("errand answer in a terminal", () => {
  test("asks like run: early keys do not count, and the answer allows exactly what was shown", async () => {
    writeFileSync(path("a.txt"), "old\n");
    writeFileSync(path("calls.json"), JSON.stringify([write("a.txt", "new\n"), write("a.txt", "newer\n")]));
    await errand("run", "--model", "calling/1", "go");
    const [listed] = records((await errand("answer", "--json")).out);
    const id = String(listed?.["id"]);
    const answering = startErrand(["answer", id], { folder: project.folder, entry: SLOW, home, terminal });
    answering.type("y\r");
    await answering.seen("+new");
    answering.type("y\r");
    await answering.seen("y allows it");
    await pause(300);
    expect(records((await errand("answer", "--json")).out)).toHaveLength(1);
    answering.type("c\r");
    expect((await answering.finished).out).toContain("allowed; go on with");
    const resumed = await errand("resume");
    expect(resumed.code).toBe(0);
    expect(file("a.txt")).toBe("newer\n");
  });
});

describe("errand answer", () => {
  test("shows the same question with its change, and refuses a file that changed after the answer", async () => {
    writeFileSync(path("a.txt"), "old\n");
    writeFileSync(path("calls.json"), JSON.stringify([write("a.txt", "new\n")]));
    await errand("run", "--model", "calling/1", "go");
    const [listed] = records((await errand("answer", "--json")).out);
    expect(listed).toMatchObject({ tool: "write_file", change: "  @@ -1,1 +1,1 @@\n  -old\n  +new" });
    const mark = String(listed?.["seen"]);
    expect(mark).toMatch(/^[0-9a-f]{64}$/);
    writeFileSync(path("a.txt"), "not what was listed\n");
    const refused = await errand("answer", String(listed?.["id"]), "yes", "--seen", mark.slice(0, 12));
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining("file-changed") as string });
    writeFileSync(path("a.txt"), "old\n");
    const answered = await errand("answer", String(listed?.["id"]), "yes", "--seen", mark.slice(0, 12));
    expect(answered.out).toContain("  -old\n  +new\n");
    writeFileSync(path("a.txt"), "my own work\n");
    const resumed = await errand("resume");
    expect(resumed.out).toContain("the file changed since the change was shown");
    expect(file("a.txt")).toBe("my own work\n");
  });
});
