/** Calls that need permission: asked in a terminal, parked elsewhere, answered by another command. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  type Finished,
  projectFolder,
  records,
  runErrand,
  SLOW,
  startErrand,
  terminalAvailable,
} from "./support/errand-process.ts";
import { asked } from "./support/asked.ts";
import { screenOf } from "./support/screen.ts";

const project = { folder: "", remove: (): void => undefined };
beforeEach(() => Object.assign(project, projectFolder()));
afterEach(() => project.remove());

const WRITE = ["run", "--model", "writing/20", "write it"];
const made = (name: string): boolean => existsSync(join(project.folder, name));
const errand = (...args: readonly string[]): Promise<Finished> => runErrand(args, { ...project, entry: SLOW });

describe("without a terminal", () => {
  test("the work is parked with a clear message, is answered by other commands, and continues from there", async () => {
    const first = await errand(...WRITE);
    expect(first.code).toBe(1);
    expect(first.err).toMatch(
      /error: The work waits for an answer: may write_file be used for out\.txt\? \(needs-input\)/,
    );
    const [, question = "", tree = ""] =
      /errand answer (\S+) yes, then: errand resume ([0-9a-f-]+)/.exec(first.err) ?? [];
    expect(question).toMatch(/^[0-9a-f-]+\/\d+\.\d+$/);
    expect([made("out.txt"), made("made")]).toEqual([false, false]);

    const listed = await errand("answer");
    const [seen = ""] = /--seen [0-9a-f]{12}\n/.exec(listed.out) ?? [];
    expect(listed.out.split("\n")).toEqual([
      question,
      '? "the writer" asks to use write_file',
      "  path     out.txt",
      `  folder   ${project.folder}`,
      "  writes   8 bytes, a new file",
      '  always   {"decision":"allow","tool":"write_file","path":"./out.txt"}',
      "  @@ -0,0 +1,1 @@",
      "  +written",
      `  errand answer ${question} yes ${seen.trim()}`,
      "",
    ]);
    expect(records((await errand("answer", "--json")).out)).toMatchObject([
      { type: "question", id: question, tree, tool: "write_file", input: { path: "out.txt" } },
    ]);
    expect((await errand("ps")).out).toMatch(new RegExp(`^${tree.slice(-6)} .* asking `, "m"));

    const answered = await errand("answer", question, "yes");
    expect(answered.code).toBe(0);
    expect(answered.out).toContain("  +written\n");
    expect(answered.out.endsWith(`allowed; go on with: errand resume ${tree}\n`)).toBe(true);
    const second = await errand("resume", tree);
    expect(second.err).toMatch(/may run_command be used for touch made\? \(needs-input\)/);
    expect(second.code).toBe(1);
    expect([made("out.txt"), made("made")]).toEqual([true, false]);

    const refused = await errand("answer", "--json", tree, "no", "not today");
    expect(records(refused.out)).toMatchObject([{ type: "answered", tree, allow: false, taken: false }]);
    const third = await errand("resume");
    expect({ code: third.code, out: third.out }).toEqual({
      code: 0,
      out: expect.stringContaining("the user does not allow this call and says: not today") as string,
    });
    expect(made("made")).toBe(false);
    expect(await errand("answer")).toMatchObject({ code: 0, out: "", err: "no question waits for an answer\n" });
    expect((await errand("replay", tree)).out).toContain("proven");
  });

  test("A9: a deny that is added after the question wins over the user's yes in the mail", async () => {
    const first = await errand(...WRITE, "--allow", "write_file");
    const [, question = "", tree = ""] =
      /errand answer (\S+) yes, then: errand resume ([0-9a-f-]+)/.exec(first.err) ?? [];
    expect(first.err).toMatch(/may run_command be used for touch made/);
    expect((await errand("answer", question, "yes")).code).toBe(0);
    const rules = JSON.stringify([{ decision: "deny", tool: "run_command" }]);
    expect((await errand("config", "set", "permissions", rules)).code).toBe(0);
    const second = await errand("resume", tree);
    expect(second.out).toContain("this call is not permitted here");
    expect([made("out.txt"), made("made")]).toEqual([true, false]);
    expect((await errand("replay", tree)).out).toContain("proven");
  });

  test("a request that has used its model calls ends with `model-call-limit` without a question", async () => {
    expect((await errand("config", "set", "limits.modelCallsPerRequest", "3")).code).toBe(0);
    const ended = await errand(...WRITE, "--allow", "write_file,run_command");
    expect(ended.code).not.toBe(0);
    expect(ended.err).toContain("model-call-limit");
    expect((await errand("answer")).err).toBe("no question waits for an answer\n");
  });

  test("only calls that were allowed in advance are not asked about", async () => {
    const some = await errand(...WRITE, "--allow", "write_file:*.txt, run_command:ls", "--json");
    expect(records(some.out).filter(({ type }) => type === "question-asked")).toMatchObject([
      { name: "the writer", tool: "run_command", input: { argv: ["touch", "made"] } },
    ]);
    expect(records(some.out).at(-1)).toMatchObject({ type: "done", outcome: "parked", exit: 1 });
    expect([some.code, made("out.txt"), made("made")]).toEqual([1, true, false]);
    const all = await errand(...WRITE, "--store", "memory", "--allow", "write_file,run_command:touch made");
    expect([all.code, made("made")]).toEqual([0, true]);
  });

  test("a usage error names the correct form", async () => {
    await errand(...WRITE);
    for (const [args, said] of [
      [["answer", "019a", "yes"], /No question 019a is open \(question-closed\)\n {2}.*errand answer/],
      [["run", "x", "--allow", "a b"], /--allow takes tools, .*not "a b" \(usage\)\n {2}For example/],
      [["run", "x", "--allow", "write_file:"], /--allow takes tools/],
    ] as const) {
      const { err, out } = await errand(...args);
      expect(err).toMatch(said);
      expect([out, err.trimEnd().split("\n").length]).toEqual(["", 2]);
    }
    const [question] = records((await errand("answer", "--json")).out);
    const id = String(question?.["id"]);
    expect(await errand("answer", id, "maybe")).toMatchObject({
      code: 2,
      err: expect.stringContaining('not "maybe"') as string,
    });
    expect(await errand("answer", id)).toMatchObject({ code: 2, err: expect.stringContaining("missing") as string });
  });

  test("scenario 32: a working owner takes an answer from another process at once", async () => {
    const terminal = { columns: 90, rows: 30 };
    if (!terminalAvailable) return process.stderr.write("SKIPPED: there is no /usr/bin/script\n");
    const owner = startErrand(WRITE, { ...project, entry: SLOW, terminal });
    await owner.seen("y allows it");
    const [question] = records((await errand("answer", "--json")).out);
    expect(await errand("answer", String(question?.["id"]), "yes")).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^allowed; watch it with/m) as string,
    });
    await asked(owner, "command  touch made");
    owner.type("y\r");
    expect((await owner.finished).code).toBe(0);
    expect([made("out.txt"), made("made")]).toEqual([true, true]);
  });
});

describe.runIf(terminalAvailable)("in a terminal", () => {
  const terminal = { columns: 90, rows: 30 };

  test("questions are asked one after the other and answered by a line; other lines have no effect", async () => {
    const running = startErrand(WRITE, { ...project, entry: SLOW, terminal });
    await running.seen("y allows it");
    running.type("xq \r");
    running.type("y");
    expect(made("out.txt")).toBe(false);
    running.type("\r");
    await asked(running, "command  touch made");
    running.type("N\r");
    const { code, out } = await running.finished;
    expect([code, made("out.txt"), made("made")]).toEqual([0, true, false]);
    const { lines, cursorVisible } = screenOf(out);
    expect(cursorVisible).toBe(true);
    const text = lines.join("\n");
    expect(text).toContain('? "the writer" asks to use write_file');
    expect(text).toContain("  +written");
    expect(text).toContain('? "the writer" asks to use run_command');
    expect(text).not.toContain("y allows it");
    // The answer is wrapped at the width of the terminal.
    expect(lines.map((line) => line.trim()).join(" ")).toContain("the user does not allow this call");
    expect(text).not.toContain("xq");
  });

  test("a request that has used its model calls asks for more, and continues after a yes", async () => {
    expect((await errand("config", "set", "limits.modelCallsPerRequest", "3")).code).toBe(0);
    const running = startErrand([...WRITE, "--allow", "write_file,run_command"], { ...project, entry: SLOW, terminal });
    await running.seen("y allows it");
    running.type("y\r");
    const { code, out } = await running.finished;
    expect([code, made("out.txt"), made("made")]).toEqual([0, true, true]);
    expect(screenOf(out).lines.join("\n")).toContain("This request has used 3 model calls. May it use 3 more?");
  });

  test("Ctrl-C at a question cancels the task, and the call is not run", async () => {
    const running = startErrand(WRITE, { ...project, entry: SLOW, terminal });
    await running.seen("y allows it");
    running.type("\u0003");
    const { code, out } = await running.finished;
    expect([code, made("out.txt")]).toEqual([130, false]);
    expect(screenOf(out).lines.some((line) => line.startsWith("kept: the conversation and 1 run"))).toBe(true);
  });
});
