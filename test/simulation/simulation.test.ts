/** The seeds of every `npm test`. For more: `npm run simulate -- --seed N --runs M`. */

import { beforeAll, describe, expect, test } from "vitest";
import { MEMORY_EVERY, runSeeds, TWICE_EVERY } from "./batch.ts";
import { type BatchResult, EMPTY_BATCH } from "./batch-result.ts";
import { runFleet } from "./fleet.ts";
import { REGRESSIONS } from "./regressions.ts";
import { SOMETIMES } from "./sometimes.ts";

const SEEDS = 2_000;
const SLOW_MS = 600_000;

describe(`${SEEDS} seeds`, () => {
  let result: BatchResult = EMPTY_BATCH;
  beforeAll(async () => {
    result = await runFleet({ seed: 1, runs: SEEDS });
  }, SLOW_MS);

  test("every invariant holds in every seed", () => {
    const again = result.failures.map(({ seed, message }) => `npm run simulate -- --seed ${seed} --runs 1\n${message}`);
    expect(again).toEqual([]);
    expect(result.seeds).toBe(SEEDS);
  });

  test("seeds that ran twice gave the same journals, byte for byte", () => {
    expect(result.matched).toBe(SEEDS / TWICE_EVERY);
  });

  test("I25: seeds that ran in SQLite and in memory gave the same journals, byte for byte", () => {
    expect(result.alike).toBe(SEEDS / MEMORY_EVERY);
  });

  test.each(SOMETIMES)("sometimes: %s", (name) => {
    expect(result.counts[name] ?? 0).toBeGreaterThan(0);
  });
});

test.each(REGRESSIONS)(
  "seed $seed once found that $found",
  async ({ seed, trouble }) => {
    expect((await runSeeds([seed], undefined, trouble === undefined ? undefined : [trouble])).failures).toEqual([]);
  },
  SLOW_MS,
);
