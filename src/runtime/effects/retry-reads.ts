/**
 * Reads of the store for effects: a read that fails in a way that passes by itself is tried again, less and less often.
 */

import type { World } from "../../contracts/world.ts";
import { passesByItself } from "../../errors.ts";

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 5_000;

export async function retryReads<Result>(
  world: Pick<World, "after">,
  signal: AbortSignal,
  read: () => Promise<Result>,
): Promise<Result> {
  for (let wait = FIRST_PAUSE_MS; ; wait = Math.min(2 * wait, LONGEST_PAUSE_MS)) {
    try {
      return await read();
    } catch (error) {
      if (signal.aborted || !passesByItself(error)) throw error;
    }
    await pause(world, wait, signal);
  }
}

/** Ends early when the signal aborts. */
function pause(world: Pick<World, "after">, milliseconds: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const cancel = world.after(milliseconds, resolve);
  const onAbort = (): void => {
    cancel();
    resolve();
  };
  signal.addEventListener("abort", onAbort, { once: true });
  return promise.finally(() => signal.removeEventListener("abort", onAbort));
}
