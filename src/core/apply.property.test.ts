import fc from "fast-check";
import { expect, test } from "vitest";
import { apply } from "./apply.ts";
import { contextsEmpty } from "./context/contexts.ts";
import { foldContexts } from "./context/fold-contexts.ts";
import { decide } from "./decide.ts";
import type { StepContexts } from "./step.ts";
import { drive, factsOf, testSource } from "./random-tree.test-support.ts";
import { addRunPatch } from "./runs/run-patch.ts";
import { stateEmpty } from "./state.ts";
import { mapsToText } from "./values/map-json.ts";

const numbers = fc.array(fc.nat({ max: 1_000 }), { minLength: 20, maxLength: 600, size: "max" });

test("apply, contexts and projection are total: foreign facts in any order throw nothing", () => {
  fc.assert(
    fc.property(numbers, numbers, fc.array(fc.nat(), { minLength: 1, maxLength: 60 }), (here, there, order) => {
      const { tree } = drive(here, { maxDepth: 2 });
      const foreign = factsOf(drive(there, { maxDepth: 3, liveChildren: 2 }).rows);
      for (const index of order) {
        const fact = foreign[index % foreign.length];
        if (fact === undefined) continue;
        const stamp = { seq: tree.state.seq + 1, at: tree.state.at };
        apply(tree.state, fact, stamp);
        const { state, contexts } = tree;
        foldContexts({ ...testSource, state, contexts, calls: null }, fact, () => undefined, stamp);
        addRunPatch(tree.state, tree.contexts, fact, stamp, []);
        tree.state.seq += 1;
      }
    }),
    { numRuns: 300 },
  );
});

test("facts before the tree is opened change nothing but what they name by themselves", () => {
  const facts = factsOf(drive(Array.from({ length: 500 }, (_, index) => (index * 7_919) % 1_000)).rows);
  for (const fact of facts) {
    if (fact.type === "tree-opened") continue;
    const state = stateEmpty();
    apply(state, fact, { seq: 1, at: 1 });
    const fold = { ...testSource, state, contexts: contextsEmpty(), calls: null };
    foldContexts(fold, fact, () => undefined, { seq: 1, at: 1 });
    expect(state.agents.size).toBe(0);
  }
});

const noContexts: StepContexts = {
  observe: () => {},
  endTexts: () => ({ kind: "missing", result: null, error: null }),
  reportText: () => "",
};

test("an input before the tree is opened, or a second opening, is rejected", () => {
  const state = stateEmpty();
  const step = { at: 1, seed: "0000000000000000", slots: 1, texts: [] };
  const before = mapsToText(state);
  expect(decide(state, { ...step, input: { type: "timers-due" } }, noContexts).rejected).toBe("the tree is not open");
  expect(mapsToText({ ...state, seq: 0, at: 0 })).toBe(before);
  const { tree, steps } = drive([]);
  const opened = steps[0];
  if (opened !== undefined) expect(decide(tree.state, opened, noContexts).rejected).toBe("the tree is open already");
});
