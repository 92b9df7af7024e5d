/**
 * The World of a simulation: a discrete-event loop that owns time. Happenings wait in three queues: `soon` callbacks,
 * timers, and events from outside (replies, results, people). The seed chooses which ready queue is next.
 *
 * Invariants:
 *  1. Time moves only when nothing is ready, and then to the earliest waiting moment.
 *  2. Timers fire in the order of their times; timers for the same time fire in the order of their creation.
 *  3. After every happening all promises that can continue have continued before the next is chosen.
 *  4. No happening of an ended life runs. A life that was only paused continues once, separately, with its own source
 *     of randomness, so that it does not affect the seed's draws.
 */

import type { World } from "../../src/index.ts";
import type { CancelTimer } from "../../src/contracts/world.ts";
import type { Random } from "./random.ts";

interface Happening {
  readonly at: number;
  readonly callback: () => void;
  readonly life: Life | null;
  /** True for a poll: it does not move time by itself, and is late if nothing else happens. */
  readonly lazy: boolean;
}

/** The world of one process, until it dies. */
export interface Life extends World {
  readonly number: number;
  readonly ended: boolean;
  end(): void;
  /** Pauses it: for others it has ended, but its own timers and callbacks are retained. */
  stop(random: Random): void;
  /** True while a paused life continues. */
  readonly awake: boolean;
  /** Resolves when a paused life continues. */
  goesOn(): Promise<void>;
  /** Lets a paused life run its due happenings, at most this many, and then ends it. */
  wake(most: number): Promise<void>;
  /** Timers that are set and `soon` callbacks that are queued. */
  waiting(): number;
}

export interface SimulatedWorld {
  /** True time since the start, in milliseconds, independent of the wall clock. */
  readonly now: number;
  readonly happened: number;
  /** How often the machine was started. */
  readonly boots: number;
  /** Called before time moves, when nothing is ready. */
  onAdvance: (to: number) => void;
  newLife(): Life;
  /** Schedules an event from outside. With a life, it is dropped when the life ends. */
  at(moment: number, callback: () => void, life?: Life): void;
  jumpWall(milliseconds: number): void;
  /** Reboots the machine: monotonic time starts again. */
  reboot(): void;
  /** Runs the next happening. Returns false if only polls are left. */
  step(): Promise<boolean>;
  /** Lets promises continue, and nothing else. */
  drain(): Promise<void>;
}

const START = Date.UTC(2026, 0, 1);
/** Timers of exactly this length are polls for mail. They are late here, as in a busy process, to save time. */
const POLL_MS = 50;
export const POLL_LATE_MS = 1_000;
/** A timer of exactly this length is the next sweep of old trees. Simulations do not wait for it. */
export const SWEEP_MS = 3_600_000;

export function createSimulatedWorld(random: Random): SimulatedWorld {
  let wallOffset = 0;
  let bootedAt = -5_000;
  let lives = 0;
  let soon: Happening[] = [];
  let timers: Happening[] = [];
  let outside: Happening[] = [];

  function happening(at: number, callback: () => void, life: Life | null, lazy = false): Happening {
    return { at, callback, life, lazy };
  }

  /** Each queue is in the order in which its happenings run. */
  function enqueue(queue: Happening[], one: Happening): void {
    let place = queue.length;
    while ((queue[place - 1]?.at ?? Number.NEGATIVE_INFINITY) > one.at) place -= 1;
    queue.splice(place, 0, one);
  }

  /** The earliest moment to which time may move. */
  function nextMoment(queue: readonly Happening[]): number {
    return queue.find((one) => !one.lazy)?.at ?? Number.POSITIVE_INFINITY;
  }

  /** Takes the head of a ready queue. If none is ready, it moves time first. */
  function choose(): Happening | null {
    for (;;) {
      const ready: Happening[][] = [];
      for (const queue of [soon, timers, outside]) {
        const head = queue[0];
        if (head !== undefined && head.at <= world.now) ready.push(queue);
      }
      const chosen = ready[ready.length > 1 ? random.below(ready.length) : 0]?.shift();
      if (chosen !== undefined) return chosen;
      const next = Math.min(nextMoment(timers), nextMoment(outside));
      if (next === Number.POSITIVE_INFINITY) return null;
      if (next > world.now) world.onAdvance(next);
      world.now = Math.max(world.now, next);
    }
  }

  /**
   * Called from a promise, the next tick comes after all promises that can continue. The event loop does not turn,
   * because nothing here waits for it.
   */
  function drain(): Promise<void> {
    return Promise.resolve().then(() => new Promise((resolve) => process.nextTick(resolve)));
  }

  // No getters: V8 creates a hidden class for each object with getters, which lives until a full collection.
  const world = {
    now: 0,
    happened: 0,
    boots: 1,
    onAdvance: (_to: number): void => {},
    newLife(): Life {
      lives += 1;
      const going = Promise.withResolvers<void>();
      let source = random;
      let aside: Happening[] = [];
      /** A process has one poll at a time; another timer of that length is an ordinary one. */
      let polling = false;
      const life = {
        number: lives,
        ended: false,
        awake: false,
        wall: () => START + world.now + wallOffset,
        monotonic: () => world.now - bootedAt,
        boot: () => `boot-${world.boots}`,
        random: (digits: number) => source.hex(digits),
        after(milliseconds: number, callback: () => void): CancelTimer {
          const poll = milliseconds === POLL_MS && !polling;
          const moment = world.now + Math.max(0, poll ? POLL_LATE_MS : milliseconds);
          polling ||= poll;
          const done = (): void => {
            if (poll) polling = false;
          };
          const happen = (): void => {
            done();
            callback();
          };
          const timer = happening(moment, poll ? happen : callback, life, poll || milliseconds === SWEEP_MS);
          if (!life.ended) enqueue(timers, timer);
          else if (life.awake) enqueue(aside, timer);
          return () => {
            done();
            timers = timers.filter((other) => other !== timer);
            aside = aside.filter((other) => other !== timer);
          };
        },
        soon(callback: () => void): void {
          if (!life.ended) soon.push(happening(world.now, callback, life));
          else if (life.awake) enqueue(aside, happening(world.now, callback, life));
        },
        end(): void {
          life.ended = true;
          const others = (one: Happening): boolean => one.life !== life;
          soon = soon.filter(others);
          timers = timers.filter(others);
          outside = outside.filter(others);
        },
        stop(own: Random): void {
          aside = [...soon, ...timers].filter((one) => one.life === life);
          source = own;
          life.end();
        },
        goesOn: () => going.promise,
        async wake(most: number): Promise<void> {
          life.awake = true;
          going.resolve();
          await drain();
          for (let count = 0; count < most && (aside[0]?.at ?? Number.POSITIVE_INFINITY) <= world.now; count += 1) {
            aside.shift()?.callback();
            await drain();
          }
          life.awake = false;
        },
        waiting: (): number => [...soon, ...timers].filter((one) => one.life === life).length,
      };
      return life;
    },
    at(moment: number, callback: () => void, life?: Life): void {
      enqueue(outside, happening(Math.max(world.now, moment), callback, life ?? null));
    },
    jumpWall(milliseconds: number): void {
      wallOffset += milliseconds;
    },
    reboot(): void {
      world.boots += 1;
      bootedAt = world.now - 5_000;
    },
    async step(): Promise<boolean> {
      const next = choose();
      if (next === null) return false;
      world.happened += 1;
      next.callback();
      await drain();
      return true;
    },
    drain,
  };
  return world;
}
