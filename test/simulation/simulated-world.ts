/**
 * The World of a simulation: a discrete-event loop that owns time. Things to happen stand in three queues (`soon`
 * callbacks, timers, and what comes from outside: replies, results, people); of those that are ready, the seed chooses
 * whose head happens next.
 *
 * Invariants:
 *  1. Time moves only when nothing is ready, and then to the earliest moment that something waits for.
 *  2. Timers happen in the order of their times, and what is due at the same time in the order in which it was queued.
 *  3. After every happening all promises that can go on have gone on, before the next is chosen.
 *  4. Nothing of a life that has ended happens any more, unless it was only stopped: then it wakes once, apart from the
 *     world, with a source of randomness of its own. What it does moves nothing of what the seed decides.
 */

import type { World } from "../../src/index.ts";
import type { CancelTimer } from "../../src/contracts/world.ts";
import type { Random } from "./random.ts";

interface Happening {
  readonly at: number;
  readonly callback: () => void;
  readonly life: Life | null;
  /** True for a poll: it does not move time by itself, and comes late where nothing else happens. */
  readonly lazy: boolean;
}

/** The world as one process sees it, until it dies. */
export interface Life extends World {
  readonly number: number;
  readonly ended: boolean;
  end(): void;
  /** Ends it, for all that anybody sees; but what it had under way by itself is kept. */
  stop(random: Random): void;
  /** True while a stopped life goes on, unseen. */
  readonly awake: boolean;
  /** Resolves when a stopped life goes on. */
  goesOn(): Promise<void>;
  /** Lets a stopped life go on with what is due, at most so many things, and then ends it. */
  wake(most: number): Promise<void>;
  /** Timers that are set and `soon` callbacks that are queued. */
  waiting(): number;
}

export interface SimulatedWorld {
  /** True time since the beginning, in milliseconds: what an honest stopwatch says. */
  readonly now: number;
  readonly happened: number;
  /** How often the machine was started. */
  readonly boots: number;
  /** Told before time moves on: nothing that is ready is left. */
  onAdvance: (to: number) => void;
  newLife(): Life;
  /** Something from outside the process, at a moment. With a life it dies with it. */
  at(moment: number, callback: () => void, life?: Life): void;
  jumpWall(milliseconds: number): void;
  /** The machine starts anew: monotonic time begins again. */
  reboot(): void;
  /** Lets the next thing happen. False when there is nothing but polls to wait for. */
  step(): Promise<boolean>;
  /** Lets promises go on, and nothing else. */
  drain(): Promise<void>;
}

const START = Date.UTC(2026, 0, 1);
/** Timers of just this length are polls for mail. They come late here, as in a busy process, and cost less. */
const POLL_MS = 50;
export const POLL_LATE_MS = 1_000;
/** A timer of just this length is the next sweep of old trees: no simulation waits for it. */
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

  /** Queues stand in the order in which they happen. */
  function enqueue(queue: Happening[], one: Happening): void {
    let place = queue.length;
    while ((queue[place - 1]?.at ?? Number.NEGATIVE_INFINITY) > one.at) place -= 1;
    queue.splice(place, 0, one);
  }

  /** The earliest moment that moves time. */
  function nextMoment(queue: readonly Happening[]): number {
    return queue.find((one) => !one.lazy)?.at ?? Number.POSITIVE_INFINITY;
  }

  /** Takes the head of one of the queues out of it, or moves time on to where one is ready. */
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
   * Among promises Node comes to the next tick when none of them can go on any more; outside of them it would come
   * first. The event loop is not turned: nothing here waits for it.
   */
  function drain(): Promise<void> {
    return Promise.resolve().then(() => new Promise((resolve) => process.nextTick(resolve)));
  }

  // No getters here: V8 makes a shape for each object with getters, which keeps it alive until a full collection.
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
      /** A process has one poll under way: another timer of that length is none. */
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
