/**
 * The result of many seeds, and how to join two results. It imports nothing, so that the thread that distributes seeds
 * loads no other code.
 */

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
  /** Seeds that ran twice and gave the same journals. */
  readonly matched: number;
  /** Seeds that ran in SQLite and in memory and gave the same journals. */
  readonly alike: number;
  readonly failures: readonly SeedFailure[];
  readonly counts: Readonly<Record<string, number>>;
}

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
