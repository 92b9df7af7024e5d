/** `errand run` in a real pseudo-terminal. */

import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { projectFolder, SLOW, startErrand, terminalAvailable } from "./support/errand-process.ts";
import { screenOf } from "./support/screen.ts";

vi.setConfig({ testTimeout: 60_000 });

const terminal = { columns: 90, rows: 30 };
const project = { folder: "", remove: (): void => undefined };
beforeEach(() => Object.assign(project, projectFolder()));
afterEach(() => project.remove());

if (!terminalAvailable) process.stderr.write("SKIPPED: there is no /usr/bin/script to make a pseudo-terminal with\n");

describe.runIf(terminalAvailable)("in a terminal", () => {
  test("the tree is drawn during the work, stays above the answer, and the cursor is restored", async () => {
    const how = { ...project, entry: SLOW, terminal };
    const { code, out } = await startErrand(
      ["run", "--store", "own.db", "--model", "slow/250", "what opens the store?"],
      how,
    ).finished;
    expect(code).toBe(0);
    expect(out).toContain("\u001b[?25l");
    // oxlint-disable-next-line no-control-regex
    expect(out).toMatch(/\u001b\[36m[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/);
    const { lines, cursorVisible, wraps } = screenOf(out);
    expect({ cursorVisible, wraps }).toEqual({ cursorVisible: true, wraps: true });
    expect(lines[0]).toBe("model slow/250 (because --model names it) · store own.db");
    const root = lines.findIndex((line) => line.startsWith("✓ orchestrator"));
    const answer = lines.findLastIndex((line) => line.includes("store.ts"));
    expect(root).toBeGreaterThan(0);
    expect(answer).toBeGreaterThan(root + 2);
    expect(lines[root + 1]).toMatch(/^├─ ✓ .+ done +\d\.\ds +[\d.]+k tok +\$0\.\d+$/);
    expect(lines.filter((line) => line.startsWith("✓ orchestrator"))).toHaveLength(1);
    expect(lines.some((line) => line.startsWith("done in "))).toBe(true);
    for (const line of lines.slice(root, answer)) expect(line.length).toBeLessThan(terminal.columns);
  });

  test("Ctrl-C cancels, says what is stored, and restores the cursor", async () => {
    const how = { ...project, entry: SLOW, terminal };
    const running = startErrand(["run", "--model", "slow/400", "the store"], how);
    await running.seen("waits for");
    running.type("\u0003");
    const { code, out } = await running.finished;
    const { lines, cursorVisible } = screenOf(out);
    expect({ code, cursorVisible }).toEqual({ code: 130, cursorVisible: true });
    expect(lines.some((line) => line.startsWith("– orchestrator") && line.includes("cancelled"))).toBe(true);
    expect(lines.some((line) => line.startsWith("kept: the conversation and 2 runs, of which 0 ended ok"))).toBe(true);
  });

  test("NO_COLOR: the tree is drawn without colours", async () => {
    const how = { ...project, terminal, env: { NO_COLOR: "1" } };
    const { code, out } = await startErrand(["run", "the store"], how).finished;
    expect(code).toBe(0);
    // oxlint-disable-next-line no-control-regex
    expect(out).not.toMatch(/\u001b\[[0-9;]*m/);
    expect(screenOf(out).lines.some((line) => line.startsWith("✓ orchestrator"))).toBe(true);
  });

  test("a terminal without cursor movements gets plain lines", async () => {
    const { code, out } = await startErrand(["run", "the store"], { ...project, terminal, env: { TERM: "dumb" } })
      .finished;
    expect(code).toBe(0);
    expect(out).not.toContain("\u001b");
    expect(out).toContain("started");
  });
});
