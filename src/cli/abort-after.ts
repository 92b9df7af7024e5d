/** Aborts work that takes too long. */

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
