/** The screen of a whole terminal: narrow windows, resizing, long names, wide characters. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { errandCommand, projectFolder, SLOW } from "./support/errand-process.ts";
import { openWindow, type Window, windowsAvailable } from "./support/window.ts";

vi.setConfig({ testTimeout: 120_000 });

const project = { folder: "", remove: (): void => undefined };
const windows: Window[] = [];
beforeEach(() => Object.assign(project, projectFolder()));
afterEach(() => {
  for (const window of windows.splice(0)) window.close();
  project.remove();
});

if (!windowsAvailable) process.stderr.write("SKIPPED: there is no tmux to open a window with\n");

function open(columns: number, rows: number, ...args: string[]): Window {
  const window = openWindow(errandCommand(args, SLOW), { folder: project.folder, columns, rows });
  windows.push(window);
  return window;
}

/** Releases the children of `held/1`. */
function go(): void {
  writeFileSync(join(project.folder, "go"), "");
}

/** Three runs work on it. */
const TASK = "what opens the store, which 日本語テキスト is in it, and who closes it again?";
/** A line of the tree while it works. */
const TREE = /^(?:[├└]─ )?[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] /;
const count = (lines: readonly string[], wanted: RegExp): number => lines.filter((line) => wanted.test(line)).length;

describe.runIf(windowsAvailable)("run", () => {
  test("in 40 columns every line of the tree fits, and a wider window is used", async () => {
    const window = open(40, 20, "run", "--model", "held/1", TASK);
    await window.sees((lines) => count(lines, TREE) === 4);
    for (const line of window.visible().filter((line) => TREE.test(line))) expect(line).toMatch(/\d\.\ds$/);
    for (const [columns, rows] of [
      [90, 20],
      [90, 12],
      [140, 24],
      [120, 24],
    ] as const) {
      window.resize(columns, rows);
      await window.sees((lines) => count(lines, TREE) === 4 && lines.some((line) => line.endsWith("· Ctrl-C cancels")));
    }
    go();
    await window.sees((lines) => lines.at(-1) === "exit 0");
    expect(count(window.all(), /^✓ orchestrator/)).toBe(1);
    expect(count(window.all(), /^[├└]─ ✓ /)).toBe(3);
    expect(count(window.all(), TREE)).toBe(0);
  });

  test("a window that becomes narrower than the tree shows it once, cut to fit", async () => {
    const window = open(100, 24, "run", "--model", "held/1", TASK);
    await window.sees((lines) => count(lines, TREE) === 4);
    window.resize(40, 24);
    await window.sees(
      (lines) => count(lines, TREE) === 4 && count(lines, /^[├└]─ . In the files…  thinking +\d+\.\ds$/) === 3,
    );
    window.press("C-c");
    await window.sees((lines) => lines.at(-1) === "exit 130");
  });

  test("in a window with few rows the runs that do not fit are counted", async () => {
    const window = open(60, 6, "run", "--model", "held/1", TASK);
    await window.sees((lines) => count(lines, /… and \d more$/) === 1);
    go();
    await window.sees((lines) => lines.at(-1) === "exit 0");
    expect(count(window.all(), /^[├└]─ ✓ /)).toBe(3);
  });
});

describe.runIf(windowsAvailable)("chat", () => {
  test("the typed line is wrapped at the window's edge, wide characters too, and the cursor is after the text", async () => {
    const window = open(40, 20, "chat", "--model", "held/1");
    await window.sees((lines) => lines.at(-1) === "›");
    window.type("日本語 and a text that is longer than the window is wide, by far");
    await window.sees((lines) => lines.at(-1)?.endsWith("by far") === true);
    const typed = window.visible().slice(-2);
    expect(typed).toEqual(["› 日本語 and a text that is longer than", "   the window is wide, by far"]);
    expect(window.cursor()).toEqual({
      column: "   the window is wide, by far".length,
      row: window.visible().length - 1,
    });
    window.press("Home", "Right");
    await window.sees(() => window.cursor().column === 4);
    window.press("Enter");
    await window.sees((lines) => lines.at(-1) === "›");
    expect(window.all().join("\n")).toContain("› 日本語 and a text that is longer than\nthe window is wide, by far");
  });

  test("resizing during work and typing leaves one tree and one typed line", async () => {
    const window = open(100, 24, "chat", "--model", "held/1");
    await window.sees((lines) => lines.at(-1) === "›");
    window.type(TASK);
    window.press("Enter");
    await window.sees((lines) => count(lines, TREE) === 4);
    window.type("half a line that is long enough to be wrapped");
    const typed = "› half a line that is long enough to be wrapped";
    for (const [columns, rows] of [
      [140, 24],
      [140, 14],
      [120, 30],
    ] as const) {
      window.resize(columns, rows);
      await window.sees((lines) => count(lines, TREE) === 4 && lines.at(-1) === typed);
    }
    go();
    await window.sees((lines) => lines.some((line) => line.startsWith("(offline rehearsal")) && lines.at(-1) === typed);
    expect(count(window.all(), /^✓ orchestrator/)).toBe(1);
    expect(count(window.all(), /half a line/)).toBe(1);
    expect(count(window.all(), TREE)).toBe(0);
    window.resize(30, 20);
    await window.sees((lines) => lines.slice(-2).join("|") === "› half a line that is long en|  ough to be wrapped");
    expect(window.cursor().column).toBe("  ough to be wrapped".length);
    window.press("C-u", "C-d");
    await window.sees((lines) => lines.at(-1) === "exit 0");
  });

  test("an answer that is longer than the window scrolls, and the typed line stays below it", async () => {
    const window = open(60, 8, "chat", "--model", "slow/1");
    await window.sees((lines) => lines.at(-1) === "›");
    window.type("what opens the store?");
    window.press("Enter");
    await window.sees((lines) => lines.some((line) => line.startsWith("(offline")) && lines.at(-1) === "›");
    const all = window.all();
    expect(count(all, /^› what opens the store\?$/)).toBe(1);
    expect(count(all, /^You asked: what opens the store\?$/)).toBe(1);
    expect(count(all, /^✓ orchestrator/)).toBe(1);
    expect(count(all, /^›$/)).toBe(1);
  });

  test("Ctrl-Z returns the terminal to the shell, and fg continues the chat", async () => {
    const words = errandCommand(["chat"], SLOW)
      .map((word) => `'${word}'`)
      .join(" ");
    const window = openWindow(["bash", "--norc", "--noprofile", "-i"], {
      folder: project.folder,
      columns: 80,
      rows: 24,
    });
    windows.push(window);
    window.type(`PS1='shell> '; stty sane; ${words}`);
    window.press("Enter");
    await window.sees((lines) => lines.at(-1) === "›");
    window.type("half");
    await window.sees((lines) => lines.at(-1) === "› half");
    window.press("C-z");
    await window.sees((lines) => lines.at(-1) === "shell>");
    window.type("echo $((20 + 3))");
    window.press("Enter");
    await window.sees((lines) => lines.includes("23"));
    window.type("fg");
    window.press("Enter");
    await window.sees((lines) => lines.at(-1) === "› half");
    window.type(" way");
    await window.sees((lines) => lines.at(-1) === "› half way");
    window.press("C-u", "C-d");
    await window.sees((lines) => lines.at(-1) === "shell>");
  });
});
