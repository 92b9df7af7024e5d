/** A World whose time moves only when a test moves it. The rest of the runtime is real. */

import { createHash } from "node:crypto";
import type { World } from "../../src/index.ts";

export interface TestWorld extends World {
  /** Moves time on. Timers fire in order, and the runtime comes to rest after each. */
  advance(milliseconds: number): Promise<void>;
  /** Moves time on at once, and then fires each due timer once. For long times, such as days. */
  skip(milliseconds: number): Promise<void>;
  /** Waits until the runtime has nothing to do, without moving time. */
  rest(): Promise<void>;
}

export function isTestWorld(world: World): world is TestWorld {
  return "advance" in world;
}

interface Timer {
  readonly at: number;
  readonly number: number;
  readonly callback: () => void;
}

/** Scripted models, stores in memory and their promises need at most this many passes of the event loop. */
const EVENT_LOOP_PASSES = 12;

export function createTestWorld(start = Date.UTC(2026, 0, 1)): TestWorld {
  let now = 0;
  let numbers = 0;
  const timers = new Set<Timer>();

  async function rest(): Promise<void> {
    for (let pass = 0; pass < EVENT_LOOP_PASSES; pass += 1) await new Promise((resolve) => setImmediate(resolve));
  }

  function earliest(until: number): Timer | undefined {
    const due = [...timers].filter((timer) => timer.at <= until);
    return due.toSorted((a, b) => a.at - b.at || a.number - b.number)[0];
  }

  return {
    wall: () => start + now,
    monotonic: () => now,
    boot: () => "test",
    random(digits) {
      numbers += 1;
      return createHash("sha512").update(String(numbers)).digest("hex").slice(0, digits);
    },
    after(milliseconds, callback) {
      numbers += 1;
      const timer = { at: now + Math.max(0, milliseconds), number: numbers, callback };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    soon: (callback) => void setImmediate(callback),
    rest,
    async skip(milliseconds) {
      now += milliseconds;
      for (const timer of [...timers]
        .filter(({ at }) => at <= now)
        .toSorted((a, b) => a.at - b.at || a.number - b.number)) {
        timers.delete(timer);
        timer.callback();
      }
      await rest();
    },
    async advance(milliseconds) {
      const until = now + milliseconds;
      await rest();
      for (let timer = earliest(until); timer !== undefined; timer = earliest(until)) {
        now = timer.at;
        timers.delete(timer);
        timer.callback();
        await rest();
      }
      now = until;
    },
  };
}
