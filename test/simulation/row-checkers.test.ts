/** The checkers of committed rows fail for changed journals. */

import { expect, test } from "vitest";
import { settingsOf } from "../../src/core/values/limits.ts";
import { createIdleSlots } from "./invariants/idle-slots.ts";
import { checkRights } from "./invariants/rights-facts.ts";
import type { WatchedRun } from "./invariants/watched-tree.ts";
import { type LooseFact, SMALL_RIGHTS, smallRows, type SmallStep, smallSteps, watchRows } from "./small-journal.ts";
import { violated } from "./invariants/violation.ts";

/** The events of row `seq`, which a test changes. */
function at(steps: SmallStep[], seq: number): LooseFact[] {
  return steps[seq - 1]?.events ?? [];
}

function without(steps: SmallStep[], seq: number, type: string): void {
  const events = at(steps, seq);
  events.splice(
    events.findIndex((event) => event.type === type),
    1,
  );
}

function limit(steps: SmallStep[], limits: object): void {
  const settings = steps[0]?.input["settings"];
  if (steps[0] !== undefined)
    steps[0].input = {
      ...steps[0].input,
      settings: { ...(settings as object), limits: { ...settingsOf().limits, ...limits } },
    };
}

const ended = { type: "run-ended", run: 1, status: "ok", report: "tool" };
const CHANGED: readonly (readonly [string, string, (steps: SmallStep[]) => unknown])[] = [
  ["I1", "a run is created twice", (steps) => at(steps, 3).push({ ...at(steps, 3)[0], type: "run-created" })],
  ["I1", "a post is taken twice", (steps) => steps.push(steps[1] ?? { input: ended, events: [] })],
  ["I17", "a request has more model calls than its limit", (steps) => limit(steps, { modelCallsPerRequest: 1 })],
  [
    "I17",
    "it is asked for more model calls before they are used",
    (steps) => at(steps, 2).push({ type: "question-asked", agent: 0, n: 9, calls: 1_000, name: "model_calls" }),
  ],
  [
    "I18",
    "a tool is called that the process does not have",
    (steps) => Object.assign(steps[0]?.input ?? {}, { rights: { tools: [] } }),
  ],
  [
    "I18",
    "a tool is called that the process denies",
    (steps) =>
      Object.assign(steps[0]?.input ?? {}, {
        rights: { ...SMALL_RIGHTS, permissions: [{ decision: "deny", tool: "look" }] },
      }),
  ],
  ["I2", "a run ends twice", (steps) => at(steps, 8).push(ended)],
  ["I3", "the end of a run reaches nobody", (steps) => void at(steps, 7).splice(3, 3)],
  [
    "I4",
    "an outcome is placed twice",
    (steps) => at(steps, 8).push({ type: "run-undeliverable", run: 1, reason: "x" }),
  ],
  [
    "I4",
    "an outcome is placed before the end",
    (steps) => at(steps, 6).push({ type: "run-undeliverable", run: 1, reason: "x" }),
  ],
  ["I7", "a limit ends as ok", (steps) => Object.assign(at(steps, 7)[2] ?? {}, { reason: "iteration-limit" })],
  [
    "I7",
    "a failure ends in silence",
    (steps) => Object.assign(steps[7] ?? {}, { input: { type: "model-failed", effect: "7.2" }, events: [] }),
  ],
  [
    "I12",
    "a message is taken twice",
    (steps) => at(steps, 8).push({ type: "messages-joined", agent: 0, take: ["2.0"] }),
  ],
  ["I12", "a post ends twice", (steps) => Object.assign(at(steps, 8)[0] ?? {}, { posts: ["post-1"] })],
  ["I2", "a report comes after the end", (steps) => at(steps, 8).push({ type: "run-reported", run: 1, call: "c0" })],
  ["I13", "a report is invented", (steps) => without(steps, 7, "run-reported")],
  [
    "I14",
    "a run is announced twice",
    (steps) => at(steps, 7).splice(4, 0, { type: "announcement-queued", agent: 0, key: "7.1", runs: [1] }),
  ],
  ["I16", "an announcement waits for an idle agent", (steps) => void at(steps, 7).splice(4, 2)],
  ["I16", "a message waits for an idle agent", (steps) => void at(steps, 2).splice(0, 2)],
  ["I16", "a turn is about nothing", (steps) => at(steps, 8).push({ type: "turn-started", agent: 0, take: [] })],
  ["I17", "a run is deeper than the limit", (steps) => limit(steps, { maxDepth: 0 })],
  ["I17", "more children live than the limit", (steps) => limit(steps, { liveChildren: 0 })],
  [
    "I18",
    "a child calls a tool that it does not have",
    (steps) => Object.assign(at(steps, 5)[0] ?? {}, { name: "strike" }),
  ],
  ["I19", "a model is called for an ended run", (steps) => at(steps, 8).push({ type: "model-called", agent: 1, n: 3 })],
  [
    "I19",
    "a result is taken for an ended run",
    (steps) => Object.assign(steps[7] ?? {}, { input: { ...steps[7]?.input, effect: "6.1" } }),
  ],
  [
    "I23",
    "an unsafe call is repeated",
    (steps) => {
      Object.assign(at(steps, 5)[0] ?? {}, { safe: undefined });
      at(steps, 6).push({ type: "effect-repeated", effect: "5.1", attempt: 2 });
    },
  ],
];

test("the unchanged journal violates nothing", () => {
  const tree = watchRows(smallRows(smallSteps()));
  expect(tree.runs.get(1)?.told).toEqual(["announcement"]);
});

test.each(CHANGED)("%s: %s", (invariant, _what, change) => {
  const steps = smallSteps();
  change(steps);
  expect(violated(() => watchRows(smallRows(steps)))).toBe(invariant);
});

test("I21: the checker finds a missing row, a changed head and a changed body", () => {
  const rows = smallRows(smallSteps());
  const changed = (seq: number, change: object): typeof rows =>
    rows.map((row) => (row.seq === seq ? { ...row, ...change } : row));
  expect(violated(() => watchRows(rows.filter((row) => row.seq !== 4)))).toBe("I21");
  expect(violated(() => watchRows(changed(4, { head: rows[3]?.head.replace("done", "gone") })))).toBe("I21");
  expect(violated(() => watchRows(changed(4, { body: '["salt","other"]' })))).toBe("I21");
});

test("I16: the checker finds a run left waiting while a slot is free, unless its parent is at its limit", () => {
  /** Checks twice, `ms` apart; the run waits while its sibling has the given state. */
  const looks = (options: { ms?: number; slots?: number; calm?: boolean; sibling?: WatchedRun["state"] }): string => {
    const { ms = 1_001, slots = 2, calm = true, sibling = "ended" } = options;
    const tree = watchRows(smallRows(smallSteps()));
    const run = tree.runs.get(1);
    if (run === undefined || tree.settings === null) throw new Error("there is no run");
    tree.settings = { ...tree.settings, limits: { ...tree.settings.limits, liveChildren: 1 } };
    tree.runs.set(1, { ...run, state: "queued" });
    tree.runs.set(2, { ...run, number: 2, state: sibling });
    const idle = createIdleSlots(slots);
    idle.look([tree], 5_000, calm);
    return violated(() => idle.look([tree], 5_000 + ms, true));
  };
  expect(looks({})).toBe("I16");
  expect(looks({ ms: 1_000 })).toBe("nothing");
  expect(looks({ calm: false })).toBe("nothing");
  expect(looks({ sibling: "running" })).toBe("nothing");
  expect(looks({ sibling: "waiting" })).toBe("nothing");
  expect(looks({ slots: 0 })).toBe("nothing");
});

test("I18: the checker finds a row that was decided under the rights of another process", () => {
  const tree = watchRows(smallRows(smallSteps()));
  expect(violated(() => checkRights(tree, SMALL_RIGHTS, 1))).toBe("nothing");
  expect(violated(() => checkRights(tree, { ...SMALL_RIGHTS, asks: true }, 1))).toBe("I18");
});
