/**
 * What a runtime does by the clock: makes durable what trails, takes mail that other processes have put, wakes trees whose time has come, lets old ones
 * expire. Each is a duty of its own, which comes again whatever its last try did.
 */

import type { Store } from "../contracts/store.ts";
import type { World } from "../contracts/world.ts";
import type { TreeId } from "../core/values/ids.ts";
import { timersNext } from "../core/values/timers.ts";
import { createDuty } from "../periodic-duty.ts";
import type { Clock } from "./clock.ts";
import type { DutyReports } from "./failure-reports.ts";
import type { Posts } from "./messages/posts.ts";
import type { Scheduler } from "./commits/scheduler.ts";
import type { LoadedTree } from "./trees/tree-cache.ts";

export interface Housekeeping {
  /** Looks for mail from now on. */
  begin(): void;
  /** Wakes every tree whose time has come, and sets the next time to look. Resolves when that was tried. */
  wakeDue(): Promise<void>;
  /** Lets trees go that are at rest for longer than the retention, a few at a time so that work is not held up; and again later. */
  sweep(): Promise<void>;
  /** How long mail was not looked for, or trees were not woken that are due, in milliseconds. */
  lateMs(): number;
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
  /** Makes up for reads of the store that failed. Called with every look for mail. */
  readonly retryReads: () => Promise<void>;
  readonly reports: (duty: string) => DutyReports;
}

const LOOK_MS = 50;
const NO_WAKE_RETRY_MS = 5_000;
const WAKES_WITHIN_MS = 1_000;
const SWEEP_EVERY_MS = 3_600_000;
const EXPIRE_AT_A_TIME = 100;

export function createHousekeeping(parts: HousekeepingParts): Housekeeping {
  const { store, world, clock, posts, scheduler, retentionMs, reports } = parts;
  let stopped = false;
  /** The store said that there is mail, and it was not taken yet. */
  let mailThere = false;
  /** Trees that are being told that their time has come, and since when: each is told once at a time. */
  const waking = new Map<TreeId, { readonly since: number; readonly woken: Promise<void> }>();

  async function look(): Promise<number | null> {
    await store.catchUp?.();
    if (stopped) return null;
    await parts.retryReads();
    if (await store.changed()) mailThere = true;
    if (mailThere || posts.mailLeft()) await posts.takeMail();
    mailThere = false;
    return LOOK_MS;
  }

  /** The earliest first. */
  function loadedDue(): TreeId[] {
    const now = clock.now();
    const due = parts.loaded().filter((loaded) => (nextTimer(loaded) ?? Number.POSITIVE_INFINITY) <= now);
    return due.toSorted((one, other) => (nextTimer(one) ?? 0) - (nextTimer(other) ?? 0)).map(({ id }) => id);
  }

  async function expire(): Promise<number | null> {
    if (retentionMs === null) return null;
    const gone = await store.expire(clock.now() - retentionMs, EXPIRE_AT_A_TIME);
    for (const tree of gone) parts.onExpired(tree);
    return gone.length === EXPIRE_AT_A_TIME ? 0 : SWEEP_EVERY_MS;
  }

  function wakeOnce(tree: TreeId): Promise<void> {
    const under = waking.get(tree);
    if (under !== undefined) return under.woken;
    const woken = parts.wake(tree).finally(() => waking.delete(tree));
    waking.set(tree, { since: world.monotonic(), woken });
    return woken;
  }

  /** A tree that cannot be told now does not keep the others waiting: its own commit, or the next look, sets its next time. */
  async function wakeAll(due: readonly TreeId[]): Promise<void> {
    if (due.length === 0) return;
    const { promise: over, resolve } = Promise.withResolvers<void>();
    const cancel = world.after(WAKES_WITHIN_MS, resolve);
    await Promise.race([Promise.all(due.map(wakeOnce)), over]);
    cancel();
  }

  function longestWaking(): number {
    let oldest = world.monotonic();
    for (const { since } of waking.values()) oldest = Math.min(oldest, since);
    return world.monotonic() - oldest;
  }

  async function wake(): Promise<null> {
    const resting = await store.due(clock.now());
    await wakeAll([...new Set([...loadedDue(), ...resting])]);
    const others = parts.loaded().filter(({ id }) => !waking.has(id));
    const times = [await store.nextWake(), ...others.map(nextTimer)].filter((time) => time !== null);
    const next = times.length === 0 ? null : times.reduce((one, other) => Math.min(one, other));
    // A tree whose wake-up changes nothing must not make a busy loop of it.
    scheduler.wakeAt(next === null ? null : next <= clock.now() ? clock.now() + NO_WAKE_RETRY_MS : next);
    return null;
  }

  const looking = createDuty({ time: world, work: look, ...reports("Looking for mail") });
  const wakingDue = createDuty({ time: world, work: wake, ...reports("Waking agents whose time has come") });
  const expiring = createDuty({ time: world, work: expire, ...reports("Letting old conversations expire") });

  return {
    begin: () => looking.later(LOOK_MS),
    sweep: expiring.now,
    wakeDue: wakingDue.now,
    lateMs: () => Math.max(looking.lateMs(), wakingDue.lateMs(), longestWaking()),
    stop() {
      stopped = true;
      for (const duty of [looking, wakingDue, expiring]) void duty.stop();
    },
  };
}

function nextTimer({ tree }: LoadedTree): number | null {
  return timersNext(tree.state.timers);
}
