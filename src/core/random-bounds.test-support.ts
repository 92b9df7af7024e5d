/** What the trees of random-tree.test-support.ts are driven with: numbers, and small limits that are soon reached. */

import fc from "fast-check";

export const numbers = fc.array(fc.nat({ max: 1_000 }), { minLength: 20, maxLength: 900, size: "max" });
export const limits = fc.record({
  maxDepth: fc.integer({ min: 1, max: 3 }),
  liveChildren: fc.integer({ min: 1, max: 3 }),
  runsPerTree: fc.integer({ min: 1, max: 40 }),
  tokensPerTree: fc.option(fc.integer({ min: 1_000, max: 500_000 })),
  delegatedIterations: fc.integer({ min: 1, max: 4 }),
  modelCallsPerRequest: fc.constantFrom(2, 5, 1_000),
  turnSeconds: fc.constantFrom(1, 60, 3_600, null),
});
