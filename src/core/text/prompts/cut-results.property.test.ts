import fc from "fast-check";
import { expect, test } from "vitest";
import { drive, seededNumbers, testSource } from "../../random-tree.test-support.ts";
import { treeNew, treeStep } from "../../tree.ts";

const numbers = fc.array(fc.nat({ max: 1_000 }), { minLength: 20, maxLength: 900, size: "max" });
const limits = fc.record({ maxDepth: fc.integer({ min: 1, max: 3 }), liveChildren: fc.integer({ min: 1, max: 3 }) });

/** Checks the rule after every step. Returns how often an agent that may not delegate saw the tool. */
function checkTree(
  list: readonly number[],
  bounds: { readonly maxDepth: number; readonly liveChildren: number },
): number {
  const tree = treeNew(testSource);
  let held = 0;
  for (const step of drive(list, bounds).steps) {
    treeStep(tree, step, "salt");
    for (const [number, { tools, cutResults }] of tree.contexts.agents) {
      const agent = tree.state.agents.get(number);
      // An outside child has no model that could see a tool.
      if (agent?.definition.runner !== undefined) continue;
      const depth = agent?.depth ?? 0;
      const holds = agent?.hasCutResult === true;
      const seen = tools.specs.some((tool) => tool.name === "read_result");
      expect([number, seen]).toEqual([number, depth < bounds.maxDepth || holds]);
      if (cutResults.length > 0) expect(holds).toBe(true);
      if (depth >= bounds.maxDepth && seen) held += 1;
    }
  }
  return held;
}

test("A8: an agent sees read_result exactly while it may delegate or holds a result that was cut", () => {
  fc.assert(
    fc.property(numbers, limits, (list, bounds) => {
      checkTree(list, bounds);
    }),
    { numRuns: 300 },
  );
});

test("the same in fixed trees, in some of which a child without the right to delegate holds such a result", () => {
  let held = 0;
  for (let seed = 1; seed <= 100; seed += 1)
    held += checkTree(seededNumbers(seed, 900), { maxDepth: 1 + (seed % 3), liveChildren: 1 + (seed % 3) });
  expect(held).toBeGreaterThan(0);
});
