/**
 * When keys may answer a question: not those that were typed before it was there to be read.
 *
 * Invariants:
 *  1. It opens at least VISIBLE_MS after the question was written and the terminal has taken it.
 *  2. Keys that waited in the terminal or the process by then are read before it opens.
 */

import type { CancelTimer } from "../../contracts/world.ts";
import type { Host, Off } from "../host.ts";

const VISIBLE_MS = 300;

/** Call it when the question is written. `opened` is called once, unless it is given up before. */
export function openGate({ world, drained }: Pick<Host, "world" | "drained">, opened: () => void): Off {
  let closed = false;
  let timer: CancelTimer | null = null;
  void drained().then(() => {
    if (closed) return;
    timer = world.after(VISIBLE_MS, () => {
      // What had come while the process was busy is read between two timers, and is too early as well.
      timer = world.after(1, () => {
        timer = null;
        opened();
      });
    });
  });
  return () => {
    closed = true;
    timer?.();
    timer = null;
  };
}
