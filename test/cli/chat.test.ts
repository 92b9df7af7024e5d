/** `errand chat` at the keyboard, in a real pseudo-terminal. */

import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { CTRL_C, CTRL_D, ENTER, startChat, UP } from "./support/chat-process.ts";
import { type Finished, projectFolder, records, runErrand, SLOW, terminalAvailable } from "./support/errand-process.ts";
import { screenOf } from "./support/screen.ts";

vi.setConfig({ testTimeout: 60_000 });

const project = { folder: "", remove: (): void => undefined };
beforeEach(() => Object.assign(project, projectFolder()));
afterEach(() => project.remove());

const errand = (...args: string[]): Promise<Finished> => runErrand(args, { ...project, entry: SLOW });
const chat = (...args: string[]): ReturnType<typeof startChat> => startChat(project.folder, args);

/** Releases the children of `held/1`. */
function go(): void {
  writeFileSync(join(project.folder, "go"), "");
}

async function messages(): Promise<unknown[]> {
  const [tree] = records((await errand("ps", "--all", "--json")).out);
  const events = records((await errand("logs", "--json", String(tree?.["id"]))).out);
  const posted = (line: Record<string, unknown>): boolean => JSON.stringify(line["facts"]).includes('"message-posted"');
  return events.filter(posted).map((line): unknown => (Array.isArray(line["texts"]) ? line["texts"][0] : null));
}

describe.runIf(terminalAvailable)("at the keyboard", () => {
  test("an answer is printed below its tree, and Ctrl-D leaves with a hint how to come back", async () => {
    const { type, sees, prompt, lines, screen, finished } = await chat("--model", "slow/150", "--store", "own.db");
    expect(lines().slice(0, 2)).toEqual([
      "model slow/150 (because --model names it) · store own.db",
      "Enter sends, Ctrl-D leaves, /help",
    ]);
    type(`what opens the store?${ENTER}`);
    await sees((all) => all.some((line) => /^├─ [⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/.test(line)) && all.at(-1) === "›");
    await prompt();
    const shown = lines();
    const at = (beginning: string): number => shown.findIndex((line) => line.startsWith(beginning));
    const order = ["› what opens the store?", "I asked 2 helpers", "✓ orchestrator", "You asked: what opens"].map(at);
    expect(order).toEqual(order.toSorted((a, b) => a - b));
    expect(order[0]).toBeGreaterThan(0);
    expect(shown.filter((line) => line.startsWith("You asked:"))).toHaveLength(1);
    expect(screen()).toMatchObject({ cursorVisible: true, cursor: { column: 2 } });
    type(CTRL_D);
    const { code, out } = await finished;
    const [tree] = records((await errand("ps", "--all", "--json", "--store", "own.db")).out);
    const { lines: last, cursorVisible, wraps } = screenOf(out);
    expect(last.findLast((line) => line !== "")).toBe(
      `the conversation is kept; come back with: errand chat ${String(tree?.["id"])}`,
    );
    expect({ code, cursorVisible, wraps }).toEqual({ code: 0, cursorVisible: true, wraps: true });
    expect(out.lastIndexOf("\u001b[?2004l")).toBeGreaterThan(out.lastIndexOf("\u001b[?2004h"));
  });

  test("a result that arrives during typing keeps the typed line and its cursor", async () => {
    const { type, seesLine, prompt, lines, screen, finished } = await chat("--model", "held/1");
    type(`what opens the store?${ENTER}`);
    await seesLine("└─ ");
    type("half a line\u001b[D\u001b[D");
    await seesLine("› half a line");
    go();
    await prompt();
    expect(lines().some((line) => line.includes("store.ts"))).toBe(true);
    expect(lines().at(-1)).toBe("› half a line");
    expect(screen().cursor.column).toBe("› half a li".length);
    type(`xx${ENTER}`);
    await seesLine("› half a lixxne");
    await prompt();
    type(CTRL_D);
    expect((await finished).code).toBe(0);
    expect(await messages()).toEqual(["what opens the store?", "half a lixxne"]);
  });

  test("the agent's text is shown while it streams, and stays on screen once", async () => {
    const { type, seesLine, prompt, lines, running } = await chat("--model", "pausing/1");
    type(`count${ENTER}`);
    await seesLine("one two three");
    go();
    await prompt();
    expect(lines().filter((line) => line.startsWith("one two"))).toEqual([
      "one two three four five six seven eight nine ten",
    ]);
    expect(lines()).toContain("and a last line");
    running.kill("SIGTERM");
  });

  test("Ctrl-C cancels the turn and its runs and keeps the chat open; at the prompt it clears the line, then exits", async () => {
    const { type, sees, seesLine, prompt, lines, finished } = await chat("--model", "held/1");
    type(`the store${ENTER}`);
    await seesLine("└─ ");
    type(CTRL_C);
    await seesLine("– orchestrator");
    expect(lines().filter((line) => /^[├└]─ –.+cancelled/.test(line))).toHaveLength(2);
    await prompt();
    go();
    type(`what opens the store?${ENTER}`);
    await seesLine("You asked: what opens");
    await prompt();
    type("never sent");
    await seesLine("› never sent");
    type(CTRL_C);
    await sees((all) => all.at(-1) === "›");
    type(CTRL_C);
    const { code, out } = await finished;
    expect(screenOf(out).lines.some((line) => line.startsWith("the conversation is kept"))).toBe(true);
    expect(code).toBe(130);
    expect(await messages()).toEqual(["the store", "what opens the store?"]);
  });

  test("a second Ctrl-C during a cancel exits at once and restores the terminal", async () => {
    const { type, sees, finished } = await chat("--model", "stuck/50000");
    type(`the store${ENTER}`);
    await sees((all) => all.some((line) => /^[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] orchestrator/.test(line)));
    type(CTRL_C + CTRL_C);
    const { code, out } = await finished;
    expect(screenOf(out)).toMatchObject({ cursorVisible: true, wraps: true });
    expect(code).toBe(130);
  });

  test("leaving with running children says so; coming back shows the past, continues, and has the input history", async () => {
    const first = await chat("--model", "held/1");
    first.type(`what opens the store?${ENTER}`);
    await first.seesLine("└─ ");
    first.type(CTRL_D);
    const { code, out } = await first.finished;
    const said = screenOf(out).lines.filter((line) => line !== "");
    expect(said.at(-2)).toBe(
      "2 runs were under way and wait in the store; errand resume goes on, and so does errand chat",
    );
    const [, tree = ""] = /errand chat ([0-9a-f-]{36})$/.exec(said.at(-1) ?? "") ?? [];
    expect(code).toBe(0);
    go();
    const second = await chat(tree);
    await second.seesLine("› what opens the store?");
    await second.seesLine("You asked: what opens the store?");
    await second.prompt();
    second.type(UP);
    await second.sees((lines) => lines.at(-1) === "› what opens the store?");
    second.type(` again${ENTER}`);
    await second.seesLine("You asked: what opens the store? again");
    await second.prompt();
    second.type(`/quit${ENTER}`);
    expect((await second.finished).code).toBe(0);
    expect(await messages()).toEqual(["what opens the store?", "what opens the store? again"]);
  });

  test("a paste of several lines is one message, sent by Enter and not before", async () => {
    const { type, sees, prompt, finished } = await chat("--model", "talking/1");
    type("\u001b[200~first line\rsecond\u001b[201~");
    await sees((lines) => lines.at(-2) === "› first line" && lines.at(-1) === "  second");
    type(` more${ENTER}`);
    await sees((lines) => lines.includes("  second more"));
    await prompt();
    type(CTRL_D);
    await finished;
    expect(await messages()).toEqual(["first line\nsecond more"]);
  });

  test("/help, /runs, /cancel, an unknown command, and a path that is a message", async () => {
    const { type, seesLine, prompt, lines, finished } = await chat("--model", "held/1");
    type(`/runs${ENTER}`);
    await seesLine("There are no runs yet.");
    type(`/help${ENTER}`);
    await seesLine("/cancel RUN");
    type(`/fly${ENTER}`);
    await seesLine("There is no such command; /help");
    type(`the store${ENTER}`);
    await seesLine("└─ ");
    type(`/cancel 7${ENTER}`);
    await seesLine('"7" is no run');
    type(`/cancel 1${ENTER}`);
    await seesLine("Run 1 is cancelled.");
    type(`/runs${ENTER}`);
    await seesLine("├─ – 1: ");
    expect(lines().some((line) => /^└─ . 2: /.test(line))).toBe(true);
    type(`/store.ts what is it?${ENTER}`);
    await seesLine("› /store.ts what is it?");
    go();
    await prompt();
    type(`/quit${ENTER}`);
    expect((await finished).code).toBe(0);
    expect(await messages()).toEqual(["the store", "/store.ts what is it?"]);
  });

  test("a call that needs permission asks, and yes or no is its answer, not a message", async () => {
    const { type, seesLine, sees, prompt, lines, finished } = await chat("--model", "writing/1");
    type(`write it${ENTER}`);
    await seesLine('? "the writer" asks to use write_file');
    await seesLine("y allows it, n refuses it");
    type(`y${ENTER}`);
    await seesLine('? "the writer" asks to use run_command');
    await seesLine("y allows it, n refuses it");
    expect(existsSync(join(project.folder, "out.txt"))).toBe(true);
    type(`no, not today${ENTER}`);
    await sees((all) => all.join(" ").includes("says: not today"));
    await prompt();
    expect(lines().some((line) => line.startsWith("y allows it"))).toBe(false);
    expect(existsSync(join(project.folder, "made"))).toBe(false);
    type(CTRL_D);
    await finished;
    expect(await messages()).toEqual(["write it"]);
  });

  test("a failed turn is reported without escape sequences, and the conversation continues", async () => {
    const { type, seesLine, prompt, running } = await chat("--model", "broken/1");
    type(`one${ENTER}`);
    await seesLine("the turn failed (provider-error): the provider said no");
    await prompt();
    expect(running.shown()).not.toContain("\u001b[2J");
    type(`two${ENTER}`);
    await seesLine("› two");
    await prompt();
    running.kill("SIGTERM");
  });

  test("SIGTERM restores the terminal, parks the current work, and is exit 143", async () => {
    const { type, sees, running, finished } = await chat("--model", "slow/60000");
    type(`the store${ENTER}`);
    await sees((all) => all.some((line) => /^[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] orchestrator/.test(line)));
    const [, pid = ""] = /pid (\d+)/.exec((await errand("ps")).err) ?? [];
    process.kill(Number(pid), "SIGTERM");
    const { code, out } = await finished;
    expect(screenOf(out)).toMatchObject({ cursorVisible: true, wraps: true });
    expect(screenOf(out).lines.some((line) => line.startsWith("a turn was under way and waits"))).toBe(true);
    expect(code).toBe(143);
    expect(running.pid).toBeGreaterThan(0);
  });

  test("lines that are sent in quick succession are messages of one conversation, in order", async () => {
    const { type, sees, prompt, finished } = await chat("--model", "talking/1");
    type(`one${ENTER}two${ENTER}three${ENTER}`);
    await sees((lines) => ["› one", "› two", "› three"].every((line) => lines.includes(line)));
    await prompt();
    type(CTRL_D);
    await finished;
    expect(await messages()).toEqual(["one", "two", "three"]);
    expect(records((await errand("ps", "--all", "--json")).out)).toHaveLength(1);
  });

  test("without a message no store is created and nothing is printed", async () => {
    const { type, finished } = await chat();
    type(CTRL_D);
    const { code, out } = await finished;
    expect(screenOf(out).lines.filter((line) => line !== "")).toHaveLength(2);
    expect(code).toBe(0);
    expect(records((await errand("ps", "--all", "--json")).out)).toEqual([]);
  });

  test("NO_COLOR: no colours", async () => {
    const { type, seesLine, prompt, running } = await startChat(project.folder, ["--model", "slow/1"], {
      env: { NO_COLOR: "1" },
    });
    type(`what opens the store?${ENTER}`);
    await seesLine("You asked: what opens");
    await prompt();
    // oxlint-disable-next-line no-control-regex
    expect(running.shown()).not.toMatch(/\u001b\[[0-9;]*m/);
    running.kill("SIGTERM");
  });
});
