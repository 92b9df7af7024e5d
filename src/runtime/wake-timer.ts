/** One timer for all trees: it fires at the earliest time at which one of them wants to be woken. */

import type { CancelTimer, World } from "../contracts/world.ts";
import type { Clock } from "./clock.ts";

export interface WakeTimer {
  /** Arms the timer for this time, unless it fires earlier anyway. */
  wakeAt(at: number | null): void;
  /** Cancels the timer for good: a late commit must not arm it again and keep the process alive. */
  close(): void;
}

export function createWakeTimer(world: World, clock: Clock, onDue: () => void): WakeTimer {
  let armed: { readonly at: number; readonly cancel: CancelTimer } | null = null;
  let closed = false;
  return {
    wakeAt(at) {
      if (closed || at === null || (armed !== null && armed.at <= at)) return;
      armed?.cancel();
      const cancel = world.after(Math.max(0, at - clock.now()), () => {
        armed = null;
        onDue();
      });
      armed = { at, cancel };
    },
    close() {
      closed = true;
      armed?.cancel();
      armed = null;
    },
  };
}
