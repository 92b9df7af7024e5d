/** The pause after a failed commit or read until the store is tried again, and the notices about a full disk. */

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
  /** Stops the timer; the pause stays active. */
  cancel(): void;
}

interface StorePauseParts {
  readonly world: World;
  /** The pause is over. */
  readonly onEnd: () => void;
  readonly onNotice: (notice: ErrandError) => void;
}

export function createStorePause({ world, onEnd, onNotice }: StorePauseParts): StorePause {
  let failures = 0;
  let pause: CancelTimer | null = null;
  /** Since when work waits for room on the disk; null while there is room. */
  let fullSince: number | null = null;

  function end(): void {
    pause?.();
    pause = null;
    onEnd();
  }

  return {
    active: () => pause !== null,
    failed(error, waits) {
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
      if (fullSince === null) return;
      const seconds = Math.round((world.monotonic() - fullSince) / 1_000);
      fullSince = null;
      const message = `The store has room again after ${seconds} s. The waiting work goes on.`;
      onNotice(new ErrandError("store-full", message, { details: { over: true } }));
    },
    end,
    cancel: () => pause?.(),
  };
}
