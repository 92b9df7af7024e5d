/**
 * What a runtime does periodically: makes deferred writes durable, takes mail that other processes have put, wakes
 * trees whose time has come, and expires old ones. Each is a duty of its own, which is repeated whatever its last try
 * did.
 */

import type { Store } from "../contracts/store.ts";
import type { World } from "../contracts/world.ts";
import type { TreeId } from "../core/values/ids.ts";
import { timersNext } from "../core/values/timers.ts";
import { createDuty } from "../periodic-duty.ts";
import type { Clock } from "./clock.ts";
import type { CommitLoop } from "./commits/commit-loop.ts";
import type { FailureReports } from "./failure-reports.ts";
import type { Outbox } from "./messages/outbox.ts";
import type { Posts } from "./messages/posts.ts";
import type { Replies } from "./messages/replies.ts";
import type { Placement } from "./trees/placement.ts";
import type { Sharing } from "./trees/sharing.ts";
import type { LoadedTree, TreeCache } from "./trees/tree-cache.ts";
import type { WakeTimer } from "./wake-timer.ts";

export interface Housekeeping {
  /** Wakes every tree whose time has come, and sets the timer for the next. Resolves when that was tried. */
  wakeDue(): Promise<void>;
  /** Expires trees that were idle for longer than the retention, a few at a time, and again later. */
  expireOld(): Promise<void>;
  stop(): void;
}

interface HousekeepingParts {
  readonly store: Store;
  readonly world: World;
  readonly clock: Clock;
  readonly placement: Placement;
  readonly wakeTimer: WakeTimer;
  readonly trees: TreeCache;
  readonly loop: CommitLoop;
  readonly posts: Posts;
  readonly replies: Replies;
  readonly outbox: Outbox;
  readonly sharing: Sharing | null;
  readonly retentionMs: number | null;
  readonly reports: FailureReports;
}

const MAIL_POLL_MS = 50;
const NO_WAKE_RETRY_MS = 5_000;
const WAKES_WITHIN_MS = 1_000;
const EXPIRE_EVERY_MS = 3_600_000;
const EXPIRE_AT_A_TIME = 100;

export function createHousekeeping(parts: HousekeepingParts): Housekeeping {
  const { store, world, clock, placement, wakeTimer, trees, loop, posts, retentionMs, reports } = parts;
  let stopped = false;
  /** The store reported mail that was not taken yet. */
  let mailThere = false;
  /** Trees that are being woken, and since when: each is woken once at a time. */
  const waking = new Map<TreeId, { readonly since: number; readonly woken: Promise<void> }>();

  async function pollMail(): Promise<number | null> {
    await store.flush?.();
    if (stopped) return null;
    await parts.outbox.retryReads();
    await parts.replies.retryReads();
    if (await store.changed()) mailThere = true;
    if (mailThere || posts.mailLeft()) await posts.takeMail();
    mailThere = false;
    return MAIL_POLL_MS;
  }

  /** Trees in memory that are due, the earliest first. The store knows only the times of idle trees. */
  function loadedDue(): TreeId[] {
    const now = clock.now();
    const due = trees.all().filter((loaded) => (nextTimer(loaded) ?? Number.POSITIVE_INFINITY) <= now);
    return due.toSorted((one, other) => (nextTimer(one) ?? 0) - (nextTimer(other) ?? 0)).map(({ id }) => id);
  }

  async function expire(): Promise<number | null> {
    if (retentionMs === null) return null;
    const expired = await store.expire(clock.now() - retentionMs, EXPIRE_AT_A_TIME);
    for (const tree of expired) {
      trees.drop(tree);
      parts.sharing?.forget(tree);
    }
    return expired.length === EXPIRE_AT_A_TIME ? 0 : EXPIRE_EVERY_MS;
  }

  async function wakeTree(tree: TreeId): Promise<void> {
    if (placement.refusedRecently(tree)) return;
    await loop.submit({ tree, input: { type: "timers-due" }, texts: [] }).catch(reports.failed);
  }

  function wakeOnce(tree: TreeId): Promise<void> {
    const underWay = waking.get(tree);
    if (underWay !== undefined) return underWay.woken;
    const woken = wakeTree(tree).finally(() => waking.delete(tree));
    waking.set(tree, { since: world.monotonic(), woken });
    return woken;
  }

  /** A tree that cannot be woken now does not delay the others: its next commit or the next try sets its time. */
  async function wakeAll(due: readonly TreeId[]): Promise<void> {
    if (due.length === 0) return;
    const { promise: over, resolve } = Promise.withResolvers<void>();
    const cancel = world.after(WAKES_WITHIN_MS, resolve);
    await Promise.race([Promise.all(due.map(wakeOnce)), over]);
    cancel();
  }

  async function wake(): Promise<null> {
    const idle = await store.due(clock.now());
    await wakeAll([...new Set([...loadedDue(), ...idle])]);
    const others = trees.all().filter(({ id }) => !waking.has(id));
    const times = [await store.nextWake(), ...others.map(nextTimer)].filter((time) => time !== null);
    const next = times.length === 0 ? null : times.reduce((one, other) => Math.min(one, other));
    // If waking a tree changes nothing, the loop must not become busy.
    wakeTimer.wakeAt(next === null ? null : next <= clock.now() ? clock.now() + NO_WAKE_RETRY_MS : next);
    return null;
  }

  /** How late mail or due trees are, in milliseconds. */
  function lateMs(): number {
    const now = world.monotonic();
    const wakes = [...waking.values()].map(({ since }) => now - since);
    return Math.max(mailDuty.lateMs(), wakeDuty.lateMs(), ...wakes);
  }

  const mailDuty = createDuty({ time: world, work: pollMail, ...reports.ofDuty("Looking for mail") });
  const wakeDuty = createDuty({ time: world, work: wake, ...reports.ofDuty("Waking agents whose time has come") });
  const expireDuty = createDuty({ time: world, work: expire, ...reports.ofDuty("Expiring old conversations") });
  store.shared?.dutiesLate(lateMs);
  mailDuty.later(MAIL_POLL_MS);

  return {
    wakeDue: wakeDuty.now,
    expireOld: expireDuty.now,
    stop() {
      stopped = true;
      for (const duty of [mailDuty, wakeDuty, expireDuty]) void duty.stop();
    },
  };
}

function nextTimer({ tree }: LoadedTree): number | null {
  return timersNext(tree.state.timers);
}
