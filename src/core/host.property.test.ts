/** Trees whose root belongs to a program (kind `host`), driven at random. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { contextsToText } from "./context/contexts.ts";
import { replayBegin, replayVerdict } from "./journal/replay.ts";
import { drive, factsOf, testSource } from "./random-tree.test-support.ts";
import { treeFold, treeNew } from "./tree.ts";
import { mapsToText } from "./values/map-json.ts";

const numbers = fc.array(fc.nat({ max: 1_000 }), { minLength: 20, maxLength: 600, size: "max" });
const limits = fc.record({ maxDepth: fc.integer({ min: 1, max: 3 }), runsPerTree: fc.integer({ min: 1, max: 40 }) });

test("a host calls no model and gets no message; each of its runs is returned once", () => {
  fc.assert(
    fc.property(numbers, limits, (list, bounds) => {
      const { tree, rows } = drive(list, bounds, "host");
      const ofHost = new Set<number>();
      const returned: number[] = [];
      for (const fact of factsOf(rows)) {
        if (fact.type === "model-called") expect(fact.agent).not.toBe(0);
        if (fact.type === "turn-started") expect(fact.agent).not.toBe(0);
        if (fact.type === "message-posted") expect(fact.to).not.toBe(0);
        if (fact.type === "announcement-queued") expect(fact.agent).not.toBe(0);
        if (fact.type === "run-created" && fact.parent === 0) {
          expect(fact.announce).toBe("none");
          ofHost.add(fact.run);
        }
        if (fact.type === "run-returned") returned.push(fact.run);
      }
      expect(new Set(returned).size).toBe(returned.length);
      for (const run of ofHost) expect(tree.state.runs.has(run)).toBe(!returned.includes(run));
    }),
    { numRuns: 300 },
  );
});

test("a host's tree folds and replays byte for byte", () => {
  fc.assert(
    fc.property(numbers, limits, (list, bounds) => {
      const { tree, rows } = drive(list, bounds, "host");
      const folded = treeNew(testSource);
      const replay = replayBegin(testSource);
      for (const row of rows) {
        treeFold(folded, row);
        replay.take(row);
      }
      expect(mapsToText(folded.state)).toBe(mapsToText(tree.state));
      expect(contextsToText(folded.contexts)).toBe(contextsToText(tree.contexts));
      expect(replayVerdict(replay.report())).toBe("proven");
    }),
    { numRuns: 200 },
  );
});
