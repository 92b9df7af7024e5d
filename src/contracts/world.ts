/**
 * The only door to nondeterminism outside adapters: clocks, timers, randomness. The simulator owns one of its own.
 *
 * Promises: `monotonic` never decreases; a timer fires at most once, never before its time, and never after it was cancelled.
 */

/** Cancels the timer it came from; harmless when that has fired. */
export type CancelTimer = () => void;

export interface World {
  /** Wall-clock milliseconds since 1970. May jump. */
  wall(): number;
  /** Milliseconds since an arbitrary point of this boot. Never jumps. */
  monotonic(): number;
  /** Names the boot in which `monotonic` counts, so that its readings can be compared across processes. */
  boot(): string;
  /** `digits` random hexadecimal digits. */
  random(digits: number): string;
  /** Calls back after `milliseconds`, however many. */
  after(milliseconds: number, callback: () => void): CancelTimer;
  /** Calls back in a later turn of the event loop, after pending I/O. */
  soon(callback: () => void): void;
}
