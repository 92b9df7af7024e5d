/** A clock and turns of the event loop that a test moves itself. */

import type { World } from "../../src/index.ts";

export interface ManualTurns extends Pick<World, "monotonic" | "soon"> {
  pass(milliseconds: number): void;
  /** The next turn of the event loop: calls what was asked for `soon`. */
  turn(): void;
  /** How much waits for the next turn. */
  waiting(): number;
}

export function createManualTurns(): ManualTurns {
  let now = 0;
  let soon: (() => void)[] = [];
  return {
    monotonic: () => now,
    soon: (callback) => void soon.push(callback),
    pass: (milliseconds) => void (now += milliseconds),
    turn() {
      const due = soon;
      soon = [];
      for (const callback of due) callback();
    },
    waiting: () => soon.length,
  };
}
