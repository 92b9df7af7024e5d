/**
 * Waiting for a lock that another program holds on the file. SQLite itself waits for a moment, which holds up the event loop; the rest is waited for
 * between tries, while the process goes on.
 *
 * Invariant: the first try is made at once, within the call.
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

function createPatience(world: World, patienceMs: number, troubles: Troubles): Patiently {
  return async (what, work) => {
    let began: number | null = null;
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      try {
        const result = work();
        troubles.over(what);
        return result;
      } catch (error) {
        if (!(error instanceof ErrandError) || error.code !== "store-busy") throw error;
        began ??= world.monotonic();
        troubles.met(what, error);
        if (world.monotonic() - began >= patienceMs) throw error;
      }
      await new Promise<void>((resolve) => world.after(pause, resolve));
    }
  };
}

/** How callers wait while another program holds a lock. */
export function waitingOf(
  world: World | undefined,
  access: "own" | "read",
): {
  readonly patiently: Patiently;
  readonly onTrouble: (listener: TroubleListener) => void;
  readonly endWaiting: () => void;
} {
  if (world === undefined) {
    return { patiently: async (_what, work) => work(), onTrouble: () => undefined, endWaiting: () => undefined };
  }
  const troubles = createTroubles(world);
  const patience = access === "own" ? OWNER_PATIENCE_MS : READER_PATIENCE_MS;
  return {
    patiently: createPatience(world, patience, troubles),
    onTrouble: troubles.onTrouble,
    endWaiting: troubles.close,
  };
}
