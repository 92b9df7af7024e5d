/** The checkers of outside children fail for changed journals. */

import { expect, test } from "vitest";
import { settingsOf } from "../../src/core/values/limits.ts";
import { violated } from "./invariants/violation.ts";
import { type LooseFact, SMALL_RIGHTS, smallRows, type SmallStep, smallSteps, watchRows } from "./small-journal.ts";

const SESSION = { effect: "3.1", attempt: 1 };
const RUNNER = { name: "able", takes: ["answer", "steer"] };
const told: SmallStep = { input: { type: "runner-told", effect: "6.2", attempt: 1 }, events: [] };

/** The small journal, whose child is executed outside: it asks, is answered, and ends with a report. */
function outsideSteps(child: object = {}): SmallStep[] {
  const steps = smallSteps();
  const [opened, , created, , , , last] = steps;
  if (opened === undefined || created === undefined || last === undefined) throw new Error("The journal is shorter.");
  opened.input["catalog"] = (opened.input["catalog"] as LooseFact[]).map((definition) =>
    definition["name"] === "worker" ? { ...definition, tools: [], runner: RUNNER, ...child } : definition,
  );
  opened.input["rights"] = { ...SMALL_RIGHTS, runners: ["able"] };
  created.events = created.events.map((event) =>
    event.type === "model-called" && event["agent"] === 1 ? { type: "runner-started", agent: 1, n: 1 } : event,
  );
  steps[4] = {
    input: { type: "runner-asked", ...SESSION, ask: "q1" },
    text: { text: "Which?", choices: ["red", "blue"] },
    events: [{ type: "question-asked", agent: 1, n: 1, ask: "q1", name: "child_question" }],
  };
  steps[5] = {
    input: { type: "answer-given", id: "post-2", question: "5.1", allow: true, text: true },
    text: "red",
    events: [{ type: "runner-message-sent", agent: 1, n: 2, kind: "answer", ask: "q1" }],
  };
  last.input = { type: "runner-ended", ...SESSION, status: "ok", reported: true, size: 4 };
  return steps;
}

function events(steps: SmallStep[], seq: number): LooseFact[] {
  return steps[seq - 1]?.events ?? [];
}

function change(steps: SmallStep[], seq: number, changed: Partial<SmallStep>): void {
  Object.assign(steps[seq - 1] ?? {}, changed);
}

function progress(steps: SmallStep[], more: object): void {
  change(steps, 5, { input: { type: "runner-progressed", ...SESSION, ...more }, events: [] });
}

const CHANGED: readonly (readonly [string, string, (steps: SmallStep[]) => unknown])[] = [
  ["I1", "a run has two sessions", (steps) => events(steps, 3).push({ type: "runner-started", agent: 1, n: 5 })],
  [
    "I1",
    "a question is opened twice",
    (steps) => events(steps, 5).push({ type: "question-asked", agent: 1, n: 7, ask: "q1", name: "child_question" }),
  ],
  ["I7", "a session ends and its run does not", (steps) => change(steps, 7, { events: [] })],
  [
    "I7",
    "a run is lost although its session ended well",
    (steps) => Object.assign(events(steps, 7)[2] ?? {}, { status: "interrupted", reason: "runner-lost" }),
  ],
  ["I12", "an answer is not sent to its child", (steps) => change(steps, 6, { events: [] })],
  ["I12", "a message is told twice", (steps) => steps.push(told, told)],
  ["I17", "progress is over the limit of iterations", (steps) => progress(steps, { iterations: 99 })],
  [
    "I17",
    "a session uses more tokens than the tree has",
    (steps) => {
      const limits = { ...settingsOf().limits, tokensPerTree: 10 };
      Object.assign(steps[0]?.input ?? {}, { settings: { ...settingsOf(), limits } });
      progress(steps, { used: { input: 20, output: 1 } });
    },
  ],
  ["I18", "an answer is none of the choices", (steps) => change(steps, 6, { text: "green" })],
  [
    "I18",
    "a runner is sent what it does not take",
    (steps) => events(steps, 5).push({ type: "runner-message-sent", agent: 1, n: 8, kind: "report-accepted" }),
  ],
  [
    "I18",
    "a run is created for a denied runner",
    (steps) =>
      Object.assign(steps[0]?.input ?? {}, {
        rights: { ...SMALL_RIGHTS, permissions: [{ decision: "deny", tool: "runner:able" }] },
      }),
  ],
  [
    "I19",
    "an earlier attempt ends the run",
    (steps) => events(steps, 6).push({ type: "effect-repeated", effect: "3.1", attempt: 2 }),
  ],
  [
    "I19",
    "a late result counts",
    (steps) => steps.push({ input: { type: "runner-reported", ...SESSION, size: 4 }, events: [] }),
  ],
  [
    "I20",
    "an attempt is left out",
    (steps) => events(steps, 6).push({ type: "effect-repeated", effect: "3.1", attempt: 3 }),
  ],
];

test("the journal of an outside child violates nothing", () => {
  expect(violated(() => watchRows(smallRows(outsideSteps())))).toBe("nothing");
  expect(violated(() => watchRows(smallRows([...outsideSteps(), told])))).toBe("nothing");
  expect(violated(() => watchRows(smallRows(outsideSteps({ typed: true }))))).toBe("nothing");
});

test.each(CHANGED)("%s: the checker finds that %s", (invariant, _what, edit) => {
  const steps = outsideSteps();
  edit(steps);
  expect(violated(() => watchRows(smallRows(steps)))).toBe(invariant);
});

test("I13: the checker finds a typed run that ends well without its data", () => {
  const steps = outsideSteps({ typed: true });
  Object.assign(events(steps, 7)[2] ?? {}, { report: "missing" });
  expect(violated(() => watchRows(smallRows(steps)))).toBe("I13");
});
