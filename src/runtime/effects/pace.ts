/**
 * Starts work for a few milliseconds in each turn of the event loop. A reply may ask for thousands of tool calls, and
 * starting all of them in one turn would delay timers, mail and streams.
 *
 * Invariants:
 *  1. Work starts in the order in which it was given.
 *  2. While there is time in this turn and nothing waits, work starts at once.
 */

import type { World } from "../../contracts/world.ts";

export interface Pace {
  /** Starts the work now, or in a later turn. It must not throw. */
  start(work: () => void): void;
}

/** Stepping and writing trees take about as long again in the same turn (commits/step-batch.ts). */
const TURN_MS = 5;

export function createPace(world: Pick<World, "monotonic" | "soon">): Pace {
  let waiting: (() => void)[] = [];
  /** When the time for this turn ends; null while nothing was started in it. */
  let until: number | null = null;

  function nextTurn(): void {
    until = null;
    const given = waiting;
    waiting = [];
    for (const [index, work] of given.entries()) {
      if (inTime()) work();
      else {
        // What this work gave to start itself comes after what waits already.
        waiting = [...given.slice(index), ...waiting];
        return;
      }
    }
  }

  /** True while this turn has time left. Asking begins the time of the turn. */
  function inTime(): boolean {
    const now = world.monotonic();
    if (until !== null) return now < until;
    until = now + TURN_MS;
    world.soon(nextTurn);
    return true;
  }

  return {
    start(work) {
      if (waiting.length === 0 && inTime()) work();
      else waiting.push(work);
    },
  };
}

/** For a long loop: resolves at once, or in the next turn of the event loop when a turn's time is over. */
export function createBreather(world: Pick<World, "monotonic" | "soon">): () => Promise<void> {
  let until = world.monotonic() + TURN_MS;
  return async () => {
    if (world.monotonic() < until) return;
    await new Promise<void>((resolve) => world.soon(resolve));
    until = world.monotonic() + TURN_MS;
  };
}
