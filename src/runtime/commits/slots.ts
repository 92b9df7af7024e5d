/**
 * The slots of the process. The kernel takes slots in a step; a tree whose runs found none is offered one when another
 * tree frees it. Trees are offered slots in the order in which they began to wait.
 */

import type { TreeId } from "../../core/values/ids.ts";

export interface Slots {
  /**
   * How many slots a step of this tree may take. Negative: that many released slots are reserved for other trees.
   * `offered`: the step answers an offer.
   */
  available(tree: TreeId, offered: boolean): number;
  /** After a step: by how much the number of slots that the tree holds changed, and whether its runs wait for more. */
  update(tree: TreeId, change: number, wait: SlotWait): void;
  /** A tree that held this many slots was dropped from memory: they are free until it is loaded again. */
  forget(tree: TreeId, held: number): void;
  /** Makes an offer to the tree that waits longest, if a slot is free. */
  nextOffer(): TreeId | null;
  /** Makes no more offers: the process is closing. */
  close(): void;
}

/**
 * `short`: a run of the tree could start if there were a slot. `unsure`: runs wait, and the step did not check all of
 * them, so that the earlier answer stays. `none`: no run waits, or a slot would not help.
 */
export type SlotWait = "short" | "unsure" | "none";

/** What a step says about the runs that wait after it. `offered`: it checked all of them. */
export function slotWait(queued: number, lacked: boolean, offered: boolean): SlotWait {
  if (queued === 0) return "none";
  if (lacked) return "short";
  return offered ? "none" : "unsure";
}

export function createSlots(count: number): Slots {
  const waiting = new Set<TreeId>();
  /** Trees whose offer is on its way: the slots are theirs until the offer arrives. */
  const offers = new Set<TreeId>();
  let held = 0;
  let closed = false;
  return {
    available(tree, offered) {
      if (offered) offers.delete(tree);
      const open = count - held;
      const others = waiting.size + offers.size - (waiting.has(tree) ? 1 : 0) - (offers.has(tree) ? 1 : 0);
      return offered && open > 0 ? Math.max(1, open - others) : open - others;
    },
    update(tree, change, wait) {
      held += change;
      if (wait === "short") waiting.add(tree);
      else if (wait === "none") waiting.delete(tree);
    },
    forget(tree, released) {
      held -= released;
      waiting.delete(tree);
      offers.delete(tree);
    },
    nextOffer() {
      const [tree] = waiting;
      if (closed || tree === undefined || held + offers.size >= count) return null;
      waiting.delete(tree);
      offers.add(tree);
      return tree;
    },
    close() {
      closed = true;
    },
  };
}
