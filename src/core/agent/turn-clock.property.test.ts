import fc from "fast-check";
import { expect, test } from "vitest";
import { drive, testSource } from "../random-tree.test-support.ts";
import { treeNew, treeStep } from "../tree.ts";

const numbers = fc.array(fc.nat({ max: 1_000 }), { minLength: 20, maxLength: 900, size: "max" });
const limits = fc.record({
  maxDepth: fc.integer({ min: 1, max: 3 }),
  tokensPerTree: fc.option(fc.integer({ min: 1_000, max: 500_000 })),
  modelCallsPerRequest: fc.constantFrom(2, 5, 1_000),
  turnSeconds: fc.constantFrom(1, 60, 3_600, null),
});

test("F6: a root's turn clock runs exactly while its model call or tool is open, and within its limit", () => {
  fc.assert(
    fc.property(numbers, limits, (list, bounds) => {
      const tree = treeNew(testSource);
      for (const step of drive(list, bounds).steps) {
        treeStep(tree, step, "salt");
        const turn = tree.state.agents.get(0)?.turn ?? null;
        const calls = [...(turn?.calls.values() ?? [])].filter((call) => call.effect !== null);
        const works = turn !== null && (turn.model !== null || calls.length > 0);
        expect(turn?.working ?? 0).toBe(calls.length);
        expect((turn?.clock.since ?? null) !== null).toBe(works && bounds.turnSeconds !== null);
        const deadline = tree.state.timers.get("turn:0");
        const left = (bounds.turnSeconds ?? 0) * 1_000 - (turn?.clock.used ?? 0);
        if (step.input.type !== "timers-due") continue;
        if (deadline !== undefined) expect(deadline > step.at || left <= 0).toBe(true);
      }
    }),
    { numRuns: 400 },
  );
});
