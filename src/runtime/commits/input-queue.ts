/**
 * Inputs on their way into their trees: those that wait for a step, in order, and those whose commit is under way.
 *
 * Invariants:
 *  1. Inputs of one tree keep their order, also when they come back after a failed commit or a load.
 *  2. At most one wake-up of each kind waits for a tree. A later one replaces it, because it knows the newer state.
 */

import type { Input } from "../../core/event.ts";
import type { StepKey, TreeId } from "../../core/values/ids.ts";
import type { Submission } from "./tree-commit.ts";

export interface Listener {
  /** Called with the reason why the input changed nothing, or null. */
  readonly resolve: (late: string | null) => void;
  readonly reject: (error: unknown) => void;
}

/** An input on its way. */
export interface Waiting {
  submission: Submission;
  readonly listeners: Listener[];
  /** How often its commit failed. */
  failures: number;
  /** True from a failed commit until the store was asked whether that commit became durable. */
  unsure: boolean;
  /** True while it waits for its step; false while its tree is loaded or its commit is under way. */
  queued: boolean;
}

export interface InputQueue {
  add(submission: Submission, listener: Listener): void;
  size(): number;
  /** Takes all inputs out of the queue. What is not stepped now has to be put back. */
  takeAll(): readonly Waiting[];
  /** Puts inputs in front of all others. */
  putBack(inputs: readonly Waiting[]): void;
  /** The tree was loaded: what the load found to do in it comes first, then the inputs that waited for it. */
  putBackLoaded(tree: TreeId, inputs: readonly Waiting[]): void;
  /** True until it is resolved or rejected. */
  has(waiting: Waiting): boolean;
  resolve(waiting: Waiting, late: string | null): void;
  reject(waiting: Waiting, error: unknown): void;
  /** Rejects everything that still waits for its step. */
  rejectQueued(error: unknown): void;
  /** True while an input for this tree is on its way. */
  occupied(tree: TreeId): boolean;
  /** True while the result of this effect is on its way. */
  delivers(tree: TreeId, effect: StepKey): boolean;
}

/** Inputs that only make a tree look at its own state: a second one that waits adds nothing. */
const WAKE_UPS: ReadonlySet<Input["type"]> = new Set([
  "timers-due",
  "slots-offered",
  "effects-lost",
  "catalog-changed",
]);

function wakeUpIs({ submission }: Waiting): boolean {
  return WAKE_UPS.has(submission.input.type);
}

export function createInputQueue(): InputQueue {
  let queue: Waiting[] = [];
  const open = new Map<TreeId, Waiting[]>();

  function queuedWakeUp({ tree, input }: Submission): Waiting | undefined {
    if (!WAKE_UPS.has(input.type)) return undefined;
    return open.get(tree)?.find((one) => one.queued && one.submission.input.type === input.type);
  }

  function remove(waiting: Waiting): void {
    const { tree } = waiting.submission;
    const mine = open.get(tree);
    if (mine?.length === 1) open.delete(tree);
    else mine?.splice(mine.indexOf(waiting), 1);
  }

  function reject(waiting: Waiting, error: unknown): void {
    remove(waiting);
    for (const listener of waiting.listeners) listener.reject(error);
  }

  function putBack(inputs: readonly Waiting[]): void {
    if (inputs.length === 0) return;
    for (const one of inputs) one.queued = true;
    queue = [...inputs, ...queue];
  }

  return {
    add(submission, listener) {
      const earlier = queuedWakeUp(submission);
      if (earlier !== undefined) {
        earlier.submission = submission;
        // A tree that is loaded again and again while the store has no room wakes itself each time: it is told once.
        if (!earlier.listeners.some(({ reject: known }) => known === listener.reject)) earlier.listeners.push(listener);
        return;
      }
      const waiting: Waiting = { submission, listeners: [listener], failures: 0, unsure: false, queued: true };
      const mine = open.get(submission.tree);
      if (mine === undefined) open.set(submission.tree, [waiting]);
      else mine.push(waiting);
      queue.push(waiting);
    },
    size: () => queue.length,
    takeAll() {
      const taken = queue;
      queue = [];
      for (const one of taken) one.queued = false;
      return taken;
    },
    putBack,
    putBackLoaded(tree, inputs) {
      const found = queue.filter((one) => one.submission.tree === tree && wakeUpIs(one));
      if (found.length > 0) queue = queue.filter((one) => !found.includes(one));
      putBack([...found, ...inputs.filter(wakeUpIs), ...inputs.filter((one) => !wakeUpIs(one))]);
    },
    has: (waiting) => open.get(waiting.submission.tree)?.includes(waiting) === true,
    resolve(waiting, late) {
      remove(waiting);
      for (const listener of waiting.listeners) listener.resolve(late);
    },
    reject,
    rejectQueued(error) {
      for (const one of queue.splice(0)) reject(one, error);
    },
    occupied: (tree) => open.has(tree),
    delivers(tree, effect) {
      for (const { submission } of open.get(tree) ?? []) {
        if ("effect" in submission.input && submission.input.effect === effect) return true;
      }
      return false;
    },
  };
}
