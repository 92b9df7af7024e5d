/** Waiting, with an end: a time limit for work, and a pause that can be aborted. */

import type { World } from "../contracts/world.ts";

/** Rejects with what `work` makes of the abort. */
export async function abortAfter<Result>(
  milliseconds: number,
  world: World,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController();
  const cancel = world.after(milliseconds, () =>
    controller.abort(new Error(`no answer within ${milliseconds / 1_000} s`)),
  );
  try {
    return await work(controller.signal);
  } finally {
    cancel();
  }
}

/** Rejects with the reason of the signal if it aborts first. */
export function pause(world: Pick<World, "after">, milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const cancel = world.after(milliseconds, () => {
      signal.removeEventListener("abort", aborted);
      resolve();
    });
    function aborted(): void {
      cancel();
      reject(signal.reason);
    }
    signal.addEventListener("abort", aborted, { once: true });
  });
}
