/**
 * Owns the two patiences with a stream: one for silence, and a longer one for a stream that gives signs of life and nothing else.
 *
 * Invariant: it barks once at most, and never after it was stopped.
 */

import type { CancelTimer, World } from "../../contracts/world.ts";

export interface Patience {
  /** Milliseconds without anything of the stream. */
  readonly silenceMs: number;
  /** Milliseconds without anything that brings the reply on: some providers send pings for ever. */
  readonly standstillMs: number;
}

export interface Watchdog {
  /** Something came; `progress` if it brought the reply on. */
  heard(progress: boolean): void;
  stop(): void;
}

export function createWatchdog(world: World, patience: Patience, bark: (ms: number) => void): Watchdog {
  let lastHeard = world.monotonic();
  let lastProgress = lastHeard;
  let cancel: CancelTimer = () => undefined;

  // One timer that looks again when it fires: parts come by the thousand, and setting a timer for each costs more than they do.
  function look(): void {
    const now = world.monotonic();
    const silence = lastHeard + patience.silenceMs - now;
    const standstill = lastProgress + patience.standstillMs - now;
    if (silence <= 0) return bark(patience.silenceMs);
    if (standstill <= 0) return bark(patience.standstillMs);
    cancel = world.after(Math.min(silence, standstill), look);
  }
  look();

  return {
    heard(progress) {
      lastHeard = world.monotonic();
      if (progress) lastProgress = lastHeard;
    },
    stop: () => cancel(),
  };
}
