/** `errand run` in a real pseudo-terminal. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
  type HowToRun,
  projectFolder,
  type RunningErrand,
  SLOW,
  startErrand,
  terminalAvailable,
} from "./support/errand-process.ts";
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

  describe("what the agent says", () => {
    const SAID = "# Title\n\nIt is **bold** and `code`.\n\n| a | b |\n|---|---|\n| 世界 | two |\n\n- [x] \u001b[2Jdone";
    const saying = (how: Partial<HowToRun> = {}, text = SAID): RunningErrand => {
      writeFileSync(join(project.folder, "say.md"), text);
      return startErrand(["run", "--store", "memory", "--model", "saying/10", "x"], {
        ...project,
        entry: SLOW,
        ...how,
      });
    };
    const go = (): void => writeFileSync(join(project.folder, "go"), "");

    test("appears as Markdown while it is written, and stands whole below the tree at the end", async () => {
      const running = saying({ terminal });
      await running.seen("done");
      const during = screenOf(running.shown()).lines;
      expect(during).toEqual(
        expect.arrayContaining(["Title", "It is bold and code.", "a    │ b", "世界 │ two", "☑ done"]),
      );
      const drawn = during.findIndex((line) => line.includes(" orchestrator "));
      expect(drawn).toBeGreaterThan(during.indexOf("☑ done"));
      go();
      const { out } = await running.finished;
      const { lines } = screenOf(out);
      const tree = lines.findIndex((line) => line.startsWith("✓ orchestrator"));
      expect(lines.slice(tree + 1, tree + 11)).toEqual([
        "",
        "Title",
        "",
        "It is bold and code.",
        "",
        "a    │ b",
        "─────┼────",
        "世界 │ two",
        "",
        "☑ done",
      ]);
      // It is there once: what was written before the end was part of the picture.
      expect(lines.filter((line) => line === "Title")).toHaveLength(1);
      expect(out).toContain("\u001b[1mbold\u001b[22m");
    });

    test("in a window of few columns and rows, the last rows are seen, and the tree with them", async () => {
      const small = { columns: 24, rows: 12 };
      const running = saying({ terminal: small }, `${"many words of one line ".repeat(20)}\n\nthe end`);
      await running.seen("the end");
      const { lines } = screenOf(running.shown());
      expect(lines.length).toBeLessThanOrEqual(small.rows + 1);
      expect(lines.findIndex((line) => /^. orch/u.test(line))).toBeGreaterThan(lines.indexOf("the end"));
      for (const line of lines.slice(1)) expect(line.length).toBeLessThan(small.columns);
      go();
      expect((await running.finished).code).toBe(0);
    });

    test.each([
      ["NO_COLOR", { terminal, env: { NO_COLOR: "1" } }],
      ["a pipe", {}],
    ])("is as it was written with %s", async (_where, how) => {
      go();
      const { out } = await saying(how).finished;
      const { lines } = screenOf(out);
      expect(lines).toEqual(
        expect.arrayContaining(["# Title", "It is **bold** and `code`.", "|---|---|", "- [x] done"]),
      );
    });

    test.each(["NO_REPLY", "  NO_MESSAGE\n", "Some text.\n\nNO_REPLY"])(
      "%j: no part of the word is shown",
      async (text) => {
        go();
        for (const how of [{ terminal }, {}]) {
          const { out, code } = await saying(how, text).finished;
          expect(out).not.toContain("NO");
          expect(out.includes("Some text.")).toBe(text.includes("Some"));
          expect(code).toBe(0);
        }
      },
    );
  });

  test("a terminal without cursor movements gets plain lines", async () => {
    const { code, out } = await startErrand(["run", "the store"], { ...project, terminal, env: { TERM: "dumb" } })
      .finished;
    expect(code).toBe(0);
    expect(out).not.toContain("\u001b");
    expect(out).toContain("started");
  });
});
