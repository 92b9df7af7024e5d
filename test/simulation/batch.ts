/** Many seeds in a row on one thread: what the command, its workers and the tests all call. */

import { openPlace } from "./place.ts";
import { simulate } from "./simulation.ts";

export interface SeedFailure {
  readonly seed: number;
  readonly invariant: string;
  readonly message: string;
}

export interface BatchResult {
  readonly seeds: number;
  readonly commits: number;
  readonly rows: number;
  readonly lives: number;
  /** Seeds that were run twice and gave the same journals. */
  readonly matched: number;
  readonly failures: readonly SeedFailure[];
  readonly counts: Readonly<Record<string, number>>;
}

/** One seed in so many runs twice. */
const TWICE_EVERY = 100;

export const EMPTY_BATCH: BatchResult = {
  seeds: 0,
  commits: 0,
  rows: 0,
  lives: 0,
  matched: 0,
  failures: [],
  counts: {},
};

export async function runSeeds(seeds: readonly number[]): Promise<BatchResult> {
  const place = await openPlace();
  try {
    let result = EMPTY_BATCH;
    for (const seed of seeds) result = joinBatches(result, await runSeed(seed, place));
    return result;
  } finally {
    place.close();
  }
}

async function runSeed(seed: number, place: Parameters<typeof simulate>[1]): Promise<BatchResult> {
  const { commits, rows, lives, failure, counts, digest } = await simulate(seed, place);
  const twice = seed % TWICE_EVERY === 0 ? await simulate(seed, place) : null;
  const failures: SeedFailure[] = failure === null ? [] : [{ seed, ...failure }];
  if (twice !== null && twice.digest !== digest) {
    failures.push({ seed, invariant: "I20", message: "I20: the same seed gave two different journals" });
  }
  const matched = twice !== null && twice.digest === digest ? 1 : 0;
  return { seeds: 1, commits, rows, lives, matched, failures, counts: Object.fromEntries(counts) };
}

export function joinBatches(one: BatchResult, other: BatchResult): BatchResult {
  const counts: Record<string, number> = { ...one.counts };
  for (const [name, count] of Object.entries(other.counts)) counts[name] = (counts[name] ?? 0) + count;
  return {
    seeds: one.seeds + other.seeds,
    commits: one.commits + other.commits,
    rows: one.rows + other.rows,
    lives: one.lives + other.lives,
    matched: one.matched + other.matched,
    failures: [...one.failures, ...other.failures],
    counts,
  };
}
