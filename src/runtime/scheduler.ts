/**
 * Process slots and wake-up times. Slots are offered with each step and taken by the kernel; a tree whose runs found none is
 * offered again when another's become free, in the order in which they began to wait.
 */

import type { CancelTimer, World } from "../contracts/world.ts";
import type { TreeId } from "../core/ids.ts";
import type { Clock } from "./clock.ts";

export interface Scheduler {
  /** Slots that a step may take. */
  free(): number;
  /** Runs that hold a slot changed by so many in a step of this tree, and this many of its runs wait for one. */
  moved(tree: TreeId, held: number, waiting: number): void;
  /** A tree was dropped from memory: what it held is free until it is loaded again. */
  forget(tree: TreeId, held: number): void;
  /** The tree to offer free slots to, if any. */
  nextToOffer(): TreeId | null;
  /** Arms the timer for the earliest wake-up. */
  wakeAt(at: number | null): void;
  close(): void;
}

export function createScheduler(slots: number, world: World, clock: Clock, onDue: () => void): Scheduler {
  const waiting = new Set<TreeId>();
  let held = 0;
  let armed: { readonly at: number; readonly cancel: CancelTimer } | null = null;
  return {
    free: () => Math.max(0, slots - held),
    moved(tree, change, queued) {
      held += change;
      if (queued > 0) waiting.add(tree);
      else waiting.delete(tree);
    },
    forget(tree, count) {
      held -= count;
      waiting.delete(tree);
    },
    nextToOffer() {
      if (held >= slots) return null;
      const [tree] = waiting;
      if (tree === undefined) return null;
      waiting.delete(tree);
      return tree;
    },
    wakeAt(at) {
      if (at === null || (armed !== null && armed.at <= at)) return;
      armed?.cancel();
      const cancel = world.after(Math.max(0, at - clock.now()), () => {
        armed = null;
        onDue();
      });
      armed = { at, cancel };
    },
    close() {
      armed?.cancel();
      armed = null;
    },
  };
}
