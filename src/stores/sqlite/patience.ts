/**
 * Waiting for a lock that another program holds on the file. SQLite itself waits for a moment, which holds up the event loop; the rest is waited for
 * between tries, while the process goes on.
 *
 * Invariants:
 *  1. The first try is made at once, within the call, unless another caller has just met the lock.
 *  2. However many callers wait, one of them tries at a time: each try holds up the event loop.
 */

import type { World } from "../../contracts/world.ts";
import { ErrandError } from "../../errors.ts";
import { createTroubles, type TroubleListener, type Troubles } from "../troubles.ts";

/** `what` is the same for work that the same lock would hold up. */
type Patiently = <Result>(what: "read" | "write", work: () => Result) => Promise<Result>;

/** How long a caller waits for the lock of another program before it is told that the store is busy. */
const OWNER_PATIENCE_MS = 15_000;
const READER_PATIENCE_MS = 10_000;
const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 250;

/** A lock that the last try met. */
interface MetLock {
  readonly error: ErrandError;
  /** Until the next try. */
  readonly pauseMs: number;
  readonly until: number;
}

function createPatience(world: World, patienceMs: number, troubles: Troubles): Patiently {
  const locks = new Map<"read" | "write", MetLock>();

  function met(what: "read" | "write", error: ErrandError): MetLock {
    troubles.met(what, error);
    const earlier = locks.get(what);
    const pauseMs = earlier === undefined ? FIRST_PAUSE_MS : Math.min(2 * earlier.pauseMs, LONGEST_PAUSE_MS);
    const lock = { error, pauseMs, until: world.monotonic() + pauseMs };
    locks.set(what, lock);
    return lock;
  }

  return async (what, work) => {
    let began: number | null = null;
    for (;;) {
      let lock = locks.get(what);
      if (lock === undefined || world.monotonic() >= lock.until) {
        try {
          const result = work();
          locks.delete(what);
          troubles.over(what);
          return result;
        } catch (error) {
          if (!(error instanceof ErrandError) || error.code !== "store-busy") throw error;
          lock = met(what, error);
        }
      }
      began ??= world.monotonic();
      if (world.monotonic() - began >= patienceMs) throw lock.error;
      const { pauseMs } = lock;
      await new Promise<void>((resolve) => world.after(pauseMs, resolve));
    }
  };
}

/** How callers wait while another program holds a lock. */
export function waitingOf(
  world: World | undefined,
  access: "own" | "read",
): {
  readonly patiently: Patiently;
  readonly onDelay: (listener: TroubleListener) => void;
  readonly endWaiting: () => void;
} {
  if (world === undefined) {
    return { patiently: async (_what, work) => work(), onDelay: () => undefined, endWaiting: () => undefined };
  }
  const troubles = createTroubles(world);
  const patience = access === "own" ? OWNER_PATIENCE_MS : READER_PATIENCE_MS;
  return {
    patiently: createPatience(world, patience, troubles),
    onDelay: troubles.onDelay,
    endWaiting: troubles.close,
  };
}
