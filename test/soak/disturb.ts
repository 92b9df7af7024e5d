/** What is done to the store of a soak from outside, one thing after the other, for as long as the load lasts. */

import { setTimeout as sleep } from "node:timers/promises";
import type { SoakFault } from "./faults.ts";
import { holdLock } from "./locks.ts";
import type { SoakPlace } from "./places.ts";

/** How often each thing was done. */
export interface Disturbed {
  locks: number;
  fullDisks: number;
  outages: number;
}

export interface Disturbing {
  readonly counted: Disturbed;
  /** True while no new process could open the store. */
  closed(): boolean;
  /** Resolves when the last disturbance is over. */
  stop(): Promise<void>;
}

const LONGEST_PAUSE_MS = 15_000;
const SHORT_LOCK_MS = 2_000;
const LONG_LOCK_MS = 9_000;
const FULL_MS = 5_000;
const OUTAGE_MS = 4_000;

/** `wholeMs`: how long the load lasts; `now`: since it began. */
export function disturb(
  { store, disk, server }: SoakPlace,
  faults: readonly SoakFault[],
  wholeMs: number,
  now: () => number,
): Disturbing {
  const counted: Disturbed = { locks: 0, fullDisks: 0, outages: 0 };
  const stopped = new AbortController();
  let closed = false;

  async function lock(milliseconds: number): Promise<void> {
    if (await holdLock(store, milliseconds)) counted.locks += 1;
  }

  async function whileClosed(begin: () => unknown, milliseconds: number, end: () => unknown): Promise<void> {
    closed = true;
    await begin();
    await sleep(milliseconds);
    await end();
    closed = false;
  }

  const works: Partial<Record<SoakFault, () => Promise<void>>> = {
    "write-lock": () => lock(SHORT_LOCK_MS),
    ...(disk === null
      ? {}
      : {
          async "full-disk"() {
            await whileClosed(disk.fill, FULL_MS, disk.empty);
            counted.fullDisks += 1;
          },
        }),
    ...(server === null
      ? {}
      : {
          async outage() {
            await whileClosed(() => server.stop("immediate"), OUTAGE_MS, server.start);
            counted.outages += 1;
          },
        }),
    "long-write-lock": () => lock(LONG_LOCK_MS),
  };
  const chosen = Object.entries(works).flatMap(([name, work]) => (faults.some((one) => one === name) ? [work] : []));

  async function run(): Promise<void> {
    for (let turn = 0; chosen.length > 0; turn += 1) {
      await sleep(Math.min(wholeMs / 6, LONGEST_PAUSE_MS), null, stopped).catch(() => undefined);
      if (stopped.signal.aborted || now() >= wholeMs) return;
      await chosen[turn % chosen.length]?.();
    }
  }

  const ended = run();
  // A failure is told to the one that stops it.
  ended.catch(() => undefined);
  return {
    counted,
    closed: () => closed,
    stop() {
      stopped.abort();
      return ended;
    },
  };
}
