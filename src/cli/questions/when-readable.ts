/**
 * Ignores keys that were typed before a question could be read.
 *
 * Invariants:
 *  1. Answers are accepted at the earliest VISIBLE_MS after the terminal took the question.
 *  2. Keys that were in the terminal's or the process's buffers by then are read before.
 */

import type { CancelTimer } from "../../contracts/world.ts";
import type { Host, Off } from "../host.ts";

const VISIBLE_MS = 300;

/** Call it when the question is written. Calls back once, unless it is turned off before. */
export function whenReadable({ world, drained }: Pick<Host, "world" | "drained">, readable: () => void): Off {
  let off = false;
  let timer: CancelTimer | null = null;
  void drained().then(() => {
    if (off) return;
    timer = world.after(VISIBLE_MS, () => {
      // Keys that came while the process was busy are read between two timers.
      timer = world.after(1, readable);
    });
  });
  return () => {
    off = true;
    timer?.();
  };
}
