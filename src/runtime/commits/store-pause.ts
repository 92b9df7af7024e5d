/**
 * The pause after a failed commit or read until the store is tried again, and the notices about a full disk.
 *
 * Invariant: a full disk is reported once, and its end once. A small write may succeed on a disk that has no room for
 * the next one, so the end is reported only after some time without a failure.
 */

import type { CancelTimer, World } from "../../contracts/world.ts";
import { ErrandError } from "../../errors.ts";
import { retryDelay } from "./commit-failures.ts";

export interface StorePause {
  active(): boolean;
  /** The store failed: the more often in a row, the longer the pause. `waits`: work waits for it. */
  failed(error: ErrandError, waits: boolean): void;
  succeeded(): void;
  /** Tries the store now. */
  end(): void;
  /** Stops the timers; the pause stays active. */
  cancel(): void;
}

interface StorePauseParts {
  readonly world: World;
  /** The pause is over. */
  readonly onEnd: () => void;
  readonly onNotice: (notice: ErrandError) => void;
}

/** Longer than the pause between two tries on a full disk. */
const ROOM_FOR_MS = 3_000;

export function createStorePause({ world, onEnd, onNotice }: StorePauseParts): StorePause {
  let failures = 0;
  let pause: CancelTimer | null = null;
  /** Since when work waits for room on the disk; null while there is room. */
  let fullSince: number | null = null;
  /** Writes have succeeded since the last one that found no room. */
  let room: { readonly since: number; readonly cancel: CancelTimer } | null = null;

  function sayRoom(): void {
    if (fullSince === null || room === null) return;
    const seconds = Math.round((room.since - fullSince) / 1_000);
    room.cancel();
    room = null;
    fullSince = null;
    const message = `The store has room again after ${seconds} s. The waiting work goes on.`;
    onNotice(new ErrandError("store-full", message, { details: { over: true } }));
  }

  function end(): void {
    pause?.();
    pause = null;
    onEnd();
  }

  return {
    active: () => pause !== null,
    failed(error, waits) {
      if (error.code === "store-full") {
        room?.cancel();
        room = null;
      }
      // Callers with new work get the error themselves. That accepted work waits is reported once.
      if (waits && error.code === "store-full" && fullSince === null) {
        fullSince = world.monotonic();
        onNotice(error);
      }
      failures += 1;
      const delay = retryDelay(error, failures);
      if (delay > 0) pause ??= world.after(delay, end);
    },
    succeeded() {
      failures = 0;
      if (fullSince !== null) room ??= { since: world.monotonic(), cancel: world.after(ROOM_FOR_MS, sayRoom) };
    },
    end,
    cancel() {
      pause?.();
      sayRoom();
    },
  };
}
