/** The longest time that some work blocks the event loop, in milliseconds of processor time. */

import { setImmediate as soon } from "node:timers/promises";

/** Processor time, so that a busy machine does not count. */
export async function longestHold(work: () => Promise<unknown>): Promise<number> {
  let over = false;
  const done = work().finally(() => (over = true));
  let longest = 0;
  while (!over) {
    const before = process.threadCpuUsage();
    await soon();
    const { user, system } = process.threadCpuUsage(before);
    longest = Math.max(longest, (user + system) / 1000);
  }
  await done;
  return longest;
}

/** Processor time of synchronous work, in milliseconds. */
export function processorTime(work: () => unknown): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}
