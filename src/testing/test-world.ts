/** A World whose time moves only when a test moves it. The rest of the runtime is real. */

import { createHash } from "node:crypto";
import type { World } from "../contracts/world.ts";
import { createSystemWorld } from "../runtime/world.ts";

/** A world whose time a test moves. */
export interface TestWorld extends World {
  /** Moves time on. Timers fire in order, and the runtime comes to rest after each. */
  advance(milliseconds: number): Promise<void>;
  /** Moves time on at once, and then fires each due timer once. For long times, such as days. */
  skip(milliseconds: number): Promise<void>;
  /** Waits until the runtime has nothing to do, without moving time. */
  rest(): Promise<void>;
  /**
   * Moves time from timer to timer until the promise is settled, and gives what it gives. Time runs ahead of real I/O,
   * such as a request over the network: do not use it while a tool waits for that.
   */
  until<T>(promise: Promise<T>): Promise<T>;
}

interface Timer {
  readonly at: number;
  readonly number: number;
  readonly callback: () => void;
}

/** Scripted models, stores in memory and their promises need at most this many passes of the event loop. */
const EVENT_LOOP_PASSES = 12;

/** A world that stands still at `start`, in milliseconds since 1970, until a test moves it. */
export function createTestWorld(start = Date.UTC(2026, 0, 1)): TestWorld {
  let now = 0;
  let numbers = 0;
  const timers = new Set<Timer>();
  const { soon } = createSystemWorld();

  async function rest(): Promise<void> {
    for (let pass = 0; pass < EVENT_LOOP_PASSES; pass += 1) await new Promise<void>((resolve) => soon(resolve));
  }

  async function fire(timer: Timer): Promise<void> {
    now = Math.max(now, timer.at);
    timers.delete(timer);
    timer.callback();
    await rest();
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
    soon,
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
        await fire(timer);
      }
      now = until;
    },
    async until(promise) {
      let settled = false;
      const settle = (): void => void (settled = true);
      promise.then(settle, settle);
      for (await rest(); !settled;) {
        const timer = earliest(Number.POSITIVE_INFINITY);
        await (timer === undefined ? rest() : fire(timer));
      }
      return promise;
    },
  };
}
