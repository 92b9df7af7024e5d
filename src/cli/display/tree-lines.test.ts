import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import { asStepKey } from "../../core/values/ids.ts";
import { createColours } from "../text/colours.ts";
import { displayWidth } from "../text/display-width.ts";
import { totalsLine, treeLines } from "./tree-lines.ts";
import { type AgentModel, createTreeModel, newAgent, type RunModel, type TreeModel } from "../../view/tree-model.ts";

const price = null;
const view = { width: 90, now: 65_000, frame: 0, colours: createColours(null) };

function treeOf(
  ...children: (Partial<AgentModel> & { readonly state?: RunModel["state"]; readonly status?: RunModel["status"] })[]
): TreeModel {
  const model = createTreeModel();
  const root = newAgent({
    number: 0,
    id: "root",
    parent: null,
    name: "orchestrator",
    definition: "orchestrator",
    price,
    offline: false,
  });
  model.agents.set(0, Object.assign(root, { startedAt: 1_000, turns: 1, outcome: "done", tokens: 3_900 }));
  for (const [index, { state = "running", status = null, ...given }] of children.entries()) {
    const number = index + 1;
    const run: RunModel = {
      id: `run ${number}`,
      mode: "background",
      state,
      status,
      reason: null,
      error: null,
      report: null,
    };
    const child = newAgent({
      number,
      id: `agent ${number}`,
      parent: 0,
      name: `child ${number}`,
      definition: "worker",
      price,
      offline: false,
      run,
    });
    model.agents.set(number, Object.assign(child, { startedAt: 60_000 }, given));
  }
  return model;
}

const tool = (name: string, about: string): Partial<AgentModel> => ({
  tools: new Map([[asStepKey("1.1"), { name, about }]]),
});

test("each agent has a line with its state, elapsed time, tokens, cost and current tool", () => {
  const model = treeOf(
    { name: "The tests", ...tool("read_file", "src/index.ts"), tokens: 12_345, cost: 12_300 },
    { name: "The source", state: "ended", status: "ok", endedAt: 61_500, tokens: 800 },
    { name: "The folder", thinking: true },
    { name: "The rest", state: "queued", startedAt: null },
    { name: "The docs", retry: { attempt: 2, at: 69_000 } },
  );
  expect(treeLines(model, view)).toEqual([
    "⠋ orchestrator   waits for 4 runs                                 1m4s   3.9k tok         ",
    "├─ ⠋ The tests   read_file src/index.ts                           5.0s  12.3k tok  $0.0123",
    "├─ ✓ The source  done                                             1.5s    800 tok         ",
    "├─ ⠋ The folder  thinking                                         5.0s                    ",
    "├─ · The rest    queued                                                                   ",
    "└─ ⠋ The docs    model failed, attempt 2 in 4.0s                  5.0s                    ",
  ]);
  expect(totalsLine(model, view.now)).toBe("1m4s · 1 of 5 runs ended · 1 queued · 17.0k tokens · $0.0123");
});

test.each([
  ["ok", null, "✓", "done"],
  ["ok", "no-report", "✓", "done, without a report"],
  ["error", "iteration-limit", "✗", "failed: iteration-limit"],
  ["timeout", "deadline", "✗", "timed out"],
  ["cancelled", null, "–", "cancelled"],
  ["interrupted", null, "–", "interrupted"],
] as const)("a run that ended %s (%s) is marked %s %s", (status, reason, mark, words) => {
  const model = treeOf({ state: "ended", status, endedAt: 61_000 });
  Object.assign(model.agents.get(1)?.run ?? {}, { reason });
  expect(treeLines(model, view)[1]).toContain(`└─ ${mark} child 1    ${words}`);
});

test("children of children hang below their parent", () => {
  const lines = treeLines(treeOf({}, { parent: 1 }, { parent: 1 }, {}), view);
  expect(lines.map((line) => line.slice(0, 15))).toEqual([
    "⠋ orchestrator ",
    "├─ ⠋ child 1   ",
    "│  ├─ ⠋ child 2",
    "│  └─ ⠋ child 3",
    "└─ ⠋ child 4   ",
  ]);
});

test("no line is wider than the terminal, whatever its width and whatever the names", () => {
  const model = treeOf(
    {
      name: "日本語の名前はとても長い名前です".repeat(3),
      ...tool("search_text", "👍".repeat(80)),
      tokens: 1_234_567,
      cost: 9_999_999,
    },
    { name: "x".repeat(200), thinking: true, tokens: 5 },
    { name: "", state: "queued" },
  );
  for (let width = 1; width <= 130; width += 1) {
    for (const line of treeLines(model, { ...view, width, colours: createColours("1;2") })) {
      expect(displayWidth(stripVTControlCharacters(line))).toBeLessThanOrEqual(width);
    }
  }
});

test("at most as many lines as there is room for: what has ended goes first, and how many are left out is said", () => {
  const many = Array.from({ length: 20 }, (_, index) =>
    index < 15 ? { state: "ended" as const, status: "ok" as const, endedAt: 61_000 } : {},
  );
  const lines = treeLines(treeOf(...many), { ...view, height: 8 });
  expect(lines).toHaveLength(8);
  expect(lines.join("\n")).toContain("child 20");
  expect(lines.at(-1)).toContain("… and 14 more");
  expect(treeLines(treeOf(...many), view)).toHaveLength(21);
  expect(treeLines(treeOf(...many), { ...view, height: 1 })).toHaveLength(2);
});

test("E4: names and tool arguments cannot write to the terminal", () => {
  const model = treeOf({ name: "a\u001b[2J\nb", ...tool("read_file\u009b1A", "\u001b]0;x\u0007path\r\n") });
  const [, line = ""] = treeLines(model, view);
  expect(line).toContain("a b");
  expect(line).toContain("read_file path");
  // oxlint-disable-next-line no-control-regex
  expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
});
