/**
 * The time limits of a stream: a short one for a silent stream, and a longer one for a stream that sends keep-alives
 * but nothing of the reply.
 *
 * Invariant: `onTimeout` is called at most once, and never after `stop`.
 */

import type { CancelTimer, World } from "../../contracts/world.ts";

const SILENCE_MS = 120_000;
const NO_PROGRESS_MS = 600_000;

export interface StreamTimeout {
  /** A part of the stream arrived. `progress`: it belongs to the reply. */
  received(progress: boolean): void;
  stop(): void;
}

export function createStreamTimeout(world: World, onTimeout: (ms: number) => void): StreamTimeout {
  let lastPart = world.monotonic();
  let lastProgress = lastPart;
  let cancel: CancelTimer = () => undefined;

  // One timer that checks again when it fires. A timer for each of thousands of parts would cost more than the parts.
  function check(): void {
    const now = world.monotonic();
    const silence = lastPart + SILENCE_MS - now;
    const noProgress = lastProgress + NO_PROGRESS_MS - now;
    if (silence <= 0) return onTimeout(SILENCE_MS);
    if (noProgress <= 0) return onTimeout(NO_PROGRESS_MS);
    cancel = world.after(Math.min(silence, noProgress), check);
  }
  check();

  return {
    received(progress) {
      lastPart = world.monotonic();
      if (progress) lastProgress = lastPart;
    },
    stop: () => cancel(),
  };
}
