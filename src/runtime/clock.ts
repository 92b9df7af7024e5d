/**
 * The kernel's time: the store's anchor plus monotonic time since. A wall clock that jumps moves no deadline while the
 * machine is up; only across a reboot does the wall's difference count. Where machines share a store, its own clock is
 * that of all.
 */

import type { Anchor, Store } from "../contracts/store.ts";
import type { World } from "../contracts/world.ts";

export interface Clock {
  now(): number;
}

export async function openClock(store: Store, world: World): Promise<Clock> {
  if (store.shared !== undefined) return store.shared;
  const known = await store.anchor();
  const anchor = anchorFor(known, world);
  if (anchor !== known) await store.setAnchor(anchor);
  return { now: () => anchor.at + (world.monotonic() - anchor.monotonic) };
}

/** The kernel's time for a process that only looks: nothing is written. */
export async function readClock(store: Store, world: World): Promise<Clock> {
  const anchor = anchorFor(await store.anchor(), world);
  return { now: () => anchor.at + (world.monotonic() - anchor.monotonic) };
}

function anchorFor(known: Anchor | null, world: World): Anchor {
  const wall = world.wall();
  const monotonic = world.monotonic();
  const boot = world.boot();
  if (known === null) return { at: wall, wall, monotonic, boot };
  if (known.boot === boot && monotonic >= known.monotonic) return known;
  return { at: known.at + Math.max(0, wall - known.wall), wall, monotonic, boot };
}
