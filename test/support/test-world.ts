/** A World whose time moves only when a test says so. Everything else of the runtime stays real. */

import { createHash } from "node:crypto";
import type { World } from "../../src/index.ts";

export interface TestWorld extends World {
  /** Moves time on, firing what becomes due in order, and lets the runtime come to rest after each. */
  advance(milliseconds: number): Promise<void>;
  /** Moves time on in one go: what became due on the way fires once, at the end. For stretches of days. */
  skip(milliseconds: number): Promise<void>;
  /** Lets whatever is ready happen, without moving time. */
  rest(): Promise<void>;
}

export function testWorldIs(world: World): world is TestWorld {
  return "advance" in world;
}

interface Timer {
  readonly at: number;
  readonly number: number;
  readonly callback: () => void;
}

/** Turns of the event loop after which scripted models, stores in memory and their promises are done. */
const TURNS = 12;

export function createTestWorld(start = Date.UTC(2026, 0, 1)): TestWorld {
  let now = 0;
  let numbers = 0;
  const timers = new Set<Timer>();

  async function rest(): Promise<void> {
    for (let turn = 0; turn < TURNS; turn += 1) await new Promise((resolve) => setImmediate(resolve));
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
