/** What a runtime does by the clock: makes durable what trails, takes mail that other processes have put, wakes trees whose time has come, lets old ones expire. */

import type { Store } from "../../contracts/store.ts";
import type { CancelTimer, World } from "../../contracts/world.ts";
import type { TreeId } from "../../core/ids.ts";
import { timersNext } from "../../core/timers.ts";
import type { Clock } from "../clock.ts";
import type { Posts } from "../messages/posts.ts";
import type { Scheduler } from "./scheduler.ts";
import type { LoadedTree } from "../trees/tree-cache.ts";

export interface Housekeeping {
  /** Looks for mail from now on. */
  begin(): void;
  /** Wakes every tree whose time has come, and sets the next time to look. */
  wakeDue(): Promise<void>;
  /** Lets trees go that are at rest for longer than the retention, a few at a time so that work is not held up; and again later. */
  sweep(): Promise<void>;
  stop(): void;
}

interface HousekeepingParts {
  readonly store: Store;
  readonly world: World;
  readonly clock: Clock;
  readonly posts: Posts;
  readonly scheduler: Scheduler;
  readonly retentionMs: number | null;
  /** The trees in memory. The store knows the times of those at rest alone. */
  readonly loaded: () => readonly LoadedTree[];
  /** Resolves when the tree has been told. */
  readonly wake: (tree: TreeId) => Promise<void>;
  readonly onExpired: (tree: TreeId) => void;
  readonly onFailure: (error: unknown) => void;
}

const LOOK_MS = 50;
const NO_WAKE_RETRY_MS = 5_000;
const SWEEP_EVERY_MS = 3_600_000;
const EXPIRE_AT_A_TIME = 100;

export function createHousekeeping(parts: HousekeepingParts): Housekeeping {
  const { store, world, clock, posts, scheduler, retentionMs, onFailure } = parts;
  let stopped = false;
  let poll: CancelTimer | null = null;
  let sweeping: CancelTimer | null = null;

  function lookLater(): void {
    poll = world.after(LOOK_MS, () => void look().catch(onFailure));
  }

  async function look(): Promise<void> {
    if (stopped) return;
    await store.catchUp?.();
    if (stopped) return;
    if ((await store.changed()) || posts.mailLeft()) await posts.takeMail();
    if (!stopped) lookLater();
  }

  /** The earliest first. */
  function loadedDue(): TreeId[] {
    const now = clock.now();
    const due = parts.loaded().filter((loaded) => (nextTimer(loaded) ?? Number.POSITIVE_INFINITY) <= now);
    return due.toSorted((one, other) => (nextTimer(one) ?? 0) - (nextTimer(other) ?? 0)).map(({ id }) => id);
  }

  async function sweep(): Promise<void> {
    if (stopped || retentionMs === null) return;
    const gone = await store.expire(clock.now() - retentionMs, EXPIRE_AT_A_TIME);
    for (const tree of gone) parts.onExpired(tree);
    sweeping = world.after(gone.length === EXPIRE_AT_A_TIME ? 0 : SWEEP_EVERY_MS, () => void sweep().catch(onFailure));
  }

  return {
    begin: lookLater,
    sweep,
    async wakeDue() {
      if (stopped) return;
      const resting = await store.due(clock.now());
      await Promise.all([...new Set([...loadedDue(), ...resting])].map((tree) => parts.wake(tree)));
      const times = [await store.nextWake(), ...parts.loaded().map(nextTimer)].filter((time) => time !== null);
      const next = times.length === 0 ? null : times.reduce((one, other) => Math.min(one, other));
      // A tree whose wake-up changes nothing must not make a busy loop of it.
      scheduler.wakeAt(next === null ? null : next <= clock.now() ? clock.now() + NO_WAKE_RETRY_MS : next);
    },
    stop() {
      stopped = true;
      poll?.();
      sweeping?.();
    },
  };
}

function nextTimer({ tree }: LoadedTree): number | null {
  return timersNext(tree.state.timers);
}
