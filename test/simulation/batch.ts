/** Many seeds in a row on one thread: what the command, its workers and the tests all call. */

import { type Disk, memoryDisk, openPlace, type SimulationPlace } from "./place.ts";
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
  /** Seeds that were run in SQLite and in memory and gave the same journals. */
  readonly alike: number;
  readonly failures: readonly SeedFailure[];
  readonly counts: Readonly<Record<string, number>>;
}

/** One seed in so many runs twice. */
export const TWICE_EVERY = 100;
/** One seed in so many runs in memory as well. */
export const MEMORY_EVERY = 100;

export const EMPTY_BATCH: BatchResult = {
  seeds: 0,
  commits: 0,
  rows: 0,
  lives: 0,
  matched: 0,
  alike: 0,
  failures: [],
  counts: {},
};

/** Runs the seeds at the place, or at one of their own. */
export async function runSeeds(seeds: readonly number[], given?: SimulationPlace): Promise<BatchResult> {
  const place = given ?? (await openPlace());
  try {
    let result = EMPTY_BATCH;
    for (const seed of seeds) result = joinBatches(result, await runSeed(seed, place));
    return result;
  } finally {
    if (given === undefined) place.close();
  }
}

async function runSeed(seed: number, place: SimulationPlace): Promise<BatchResult> {
  const { commits, rows, lives, failure, counts, digest } = await simulate(seed, place.sqlite());
  const failures: SeedFailure[] = failure === null ? [] : [{ seed, ...failure }];
  const again = async (every: number, disk: () => Disk, invariant: string, where: string): Promise<number> => {
    if (seed % every !== 0) return 0;
    const other = await simulate(seed, disk());
    if (other.digest === digest && other.failure === null) return 1;
    const why = other.failure?.message ?? "its journals are others";
    failures.push({ seed, invariant, message: `${invariant}: run again ${where} the seed did otherwise: ${why}` });
    return 0;
  };
  const matched = await again(TWICE_EVERY, place.sqlite, "I20", "in SQLite");
  const alike = await again(MEMORY_EVERY, memoryDisk, "I25", "in memory");
  return { seeds: 1, commits, rows, lives, matched, alike, failures, counts: Object.fromEntries(counts) };
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
    alike: one.alike + other.alike,
    failures: [...one.failures, ...other.failures],
    counts,
  };
}
