/** Runs many seeds one after the other on one thread, for the command's workers and the tests. */

import type { BatchResult, SeedFailure } from "./batch-result.ts";
import { type Disk, memoryDisk, openPlace, type SimulationPlace } from "./place.ts";
import { simulate } from "./simulation.ts";
import type { Trouble } from "./troubles/troubles.ts";

/** One seed in this many runs twice. */
export const TWICE_EVERY = 100;
/** One seed in this many opens the file again for each process; so does the second run of a seed that runs twice. */
const REOPENED_EVERY = 20;
/** One seed in this many also runs in memory. */
export const MEMORY_EVERY = 100;

/** Runs the seeds at the given place, or at a new one. */
export async function runSeeds(
  seeds: readonly number[],
  given?: SimulationPlace,
  troubles?: readonly Trouble[],
): Promise<BatchResult> {
  const place = given ?? (await openPlace());
  const counts = new Map<string, number>();
  const failures: SeedFailure[] = [];
  const sum = { seeds: 0, commits: 0, rows: 0, lives: 0, matched: 0, alike: 0 };
  try {
    for (const seed of seeds) {
      const anew = seed % REOPENED_EVERY === 1;
      const once = await simulate(seed, await (anew ? place.sqliteAnew() : place.sqlite()), troubles);
      sum.seeds += 1;
      sum.commits += once.commits;
      sum.rows += once.rows;
      sum.lives += once.lives;
      for (const [name, count] of once.counts) counts.set(name, (counts.get(name) ?? 0) + count);
      if (once.failure !== null) failures.push({ seed, ...once.failure });
      const again = async (
        every: number,
        disk: () => Disk | Promise<Disk>,
        invariant: string,
        where: string,
      ): Promise<number> => {
        if (seed % every !== 0) return 0;
        const other = await simulate(seed, await disk(), troubles);
        if (other.digest === once.digest && other.failure === null) return 1;
        const why = other.failure?.message ?? "its journals are others";
        failures.push({ seed, invariant, message: `${invariant}: run again ${where} the seed did otherwise: ${why}` });
        return 0;
      };
      sum.matched += await again(TWICE_EVERY, place.sqliteAnew, "I20", "in SQLite");
      sum.alike += await again(MEMORY_EVERY, memoryDisk, "I25", "in memory");
    }
    return { ...sum, failures, counts: Object.fromEntries(counts) };
  } finally {
    if (given === undefined) place.close();
  }
}
