/**
 * Process slots and wake-up times. Slots are offered with each step and taken by the kernel; a tree whose runs found none is
 * offered again when another's become free, in the order in which they began to wait.
 */

import type { CancelTimer, World } from "../../contracts/world.ts";
import type { TreeId } from "../../core/values/ids.ts";
import type { Clock } from "../clock.ts";

export interface Scheduler {
  /** Slots that a step of this tree may take; fewer than none if others wait for those that it lets go. `offered`: it is its turn. */
  free(tree: TreeId, offered: boolean): number;
  /** Runs that hold a slot changed by so many in a step of this tree, and whether its runs wait for more. */
  moved(tree: TreeId, held: number, waits: SlotWait): void;
  /** A tree was dropped from memory: what it held is free until it is loaded again. */
  forget(tree: TreeId, held: number): void;
  /** The tree to offer free slots to, if any. */
  nextToOffer(): TreeId | null;
  /** Arms the timer for the earliest wake-up. */
  wakeAt(at: number | null): void;
  /** Ends the timer for good: a commit that comes while the process closes arms none again, which would keep it alive. */
  close(): void;
}

/**
 * `short`: a run of the tree could start if there were a slot. `unsure`: runs wait, and the step did not look at all of them: what was known of the tree
 * before stands. `none`: no run waits, or none that a slot would help.
 */
export type SlotWait = "short" | "unsure" | "none";

/** What a step says about the runs that wait after it. `offered`: it looked at all of them. */
export function slotWait(queued: number, lacked: boolean, offered: boolean): SlotWait {
  if (queued === 0) return "none";
  if (lacked) return "short";
  return offered ? "none" : "unsure";
}

export function createScheduler(slots: number, world: World, clock: Clock, onDue: () => void): Scheduler {
  const waiting = new Set<TreeId>();
  /** Trees whose offer is on its way to them: until it has come, what was offered is theirs. */
  const offers = new Set<TreeId>();
  let held = 0;
  let armed: { readonly at: number; readonly cancel: CancelTimer } | null = null;
  let closed = false;
  return {
    free(tree, offered) {
      if (offered) offers.delete(tree);
      const open = slots - held;
      const others = waiting.size + offers.size - (waiting.has(tree) ? 1 : 0) - (offers.has(tree) ? 1 : 0);
      return offered && open > 0 ? Math.max(1, open - others) : open - others;
    },
    moved(tree, change, waits) {
      held += change;
      if (waits === "short") waiting.add(tree);
      else if (waits === "none") waiting.delete(tree);
    },
    forget(tree, count) {
      held -= count;
      waiting.delete(tree);
      offers.delete(tree);
    },
    nextToOffer() {
      if (held + offers.size >= slots) return null;
      const [tree] = waiting;
      if (tree === undefined) return null;
      waiting.delete(tree);
      offers.add(tree);
      return tree;
    },
    wakeAt(at) {
      if (closed || at === null || (armed !== null && armed.at <= at)) return;
      armed?.cancel();
      const cancel = world.after(Math.max(0, at - clock.now()), () => {
        armed = null;
        onDue();
      });
      armed = { at, cancel };
    },
    close() {
      closed = true;
      armed?.cancel();
      armed = null;
    },
  };
}
