/**
 * Clocks, timers and randomness: all nondeterminism outside adapters comes from here. The simulator has its own.
 *
 * Promises: `monotonic` never decreases; a timer fires at most once, never before its time, and never after it was
 * cancelled.
 */

/** Cancels the timer. Does nothing after it has fired. */
export type CancelTimer = () => void;

/** Clocks, timers and randomness. */
export interface World {
  /** Wall-clock milliseconds since 1970. May jump. */
  wall(): number;
  /** Milliseconds since an arbitrary point of this boot. Never jumps. */
  monotonic(): number;
  /** The boot in which `monotonic` counts: processes of the same boot can compare their readings. */
  boot(): string;
  /** `digits` random hexadecimal digits. */
  random(digits: number): string;
  /** Calls back after this many milliseconds. There is no upper limit. */
  after(milliseconds: number, callback: () => void): CancelTimer;
  /** Calls back in a later tick of the event loop, after pending I/O. */
  soon(callback: () => void): void;
}
