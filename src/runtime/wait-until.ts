/** Waits for work until a time, at most. */

import type { World } from "../contracts/world.ts";

/** `at`: by the monotonic clock. */
export async function waitUntil(
  world: Pick<World, "after" | "monotonic">,
  at: number,
  work: Promise<unknown> | undefined,
): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const cancel = world.after(Math.max(0, at - world.monotonic()), resolve);
  try {
    await Promise.race([work, late]);
  } finally {
    cancel();
  }
}
