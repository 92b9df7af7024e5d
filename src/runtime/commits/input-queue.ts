/**
 * Inputs on their way into their trees: those that wait for a step, in order, and those whose commit runs.
 *
 * Invariants:
 *  1. Inputs of one tree keep their order, also when they come back after a failed commit or a load.
 *  2. At most one wake-up of each kind waits for a tree. A later one replaces it, because it knows the newer state.
 */

import type { Input } from "../../core/event.ts";
import type { StepKey, TreeId } from "../../core/values/ids.ts";
import type { Submission } from "./tree-commit.ts";

export interface Listener {
  /** Called with null, or with the reason why the kernel rejected the input. */
  readonly resolve: (rejected: string | null) => void;
  readonly reject: (error: unknown) => void;
}

export interface QueuedInput {
  submission: Submission;
  readonly listeners: Listener[];
  /** How often its commit failed. */
  failures: number;
  /** True from a failed commit until the store was asked whether that commit became durable. */
  mayBeCommitted: boolean;
  /** True while it waits for its step; false while its tree is loaded or its commit runs. */
  queued: boolean;
}

export interface InputQueue {
  add(submission: Submission, listener: Listener): void;
  size(): number;
  /** Takes all inputs out of the queue. Those that are not stepped now have to be put back. */
  takeAll(): readonly QueuedInput[];
  /** Puts inputs in front of all others. */
  putBack(inputs: readonly QueuedInput[]): void;
  /** The tree was loaded: wake-ups that the load found necessary come first, then the inputs that waited for it. */
  putBackLoaded(tree: TreeId, inputs: readonly QueuedInput[]): void;
  /** True until it is resolved or rejected. */
  has(input: QueuedInput): boolean;
  resolve(input: QueuedInput, rejected: string | null): void;
  reject(input: QueuedInput, error: unknown): void;
  /** Rejects all inputs that wait for their step. */
  rejectQueued(error: unknown): void;
  /** True while an input for this tree is queued or being committed. */
  pending(tree: TreeId): boolean;
  /** True while the result of this effect is queued or being committed. */
  resultPending(tree: TreeId, effect: StepKey): boolean;
}

/** Inputs that only make a tree check its own state: a second one that waits adds nothing. */
const WAKE_UPS: ReadonlySet<Input["type"]> = new Set([
  "timers-due",
  "slots-offered",
  "effects-lost",
  "catalog-changed",
]);

function wakeUpIs({ submission }: QueuedInput): boolean {
  return WAKE_UPS.has(submission.input.type);
}

export function createInputQueue(): InputQueue {
  let queue: QueuedInput[] = [];
  const open = new Map<TreeId, QueuedInput[]>();

  function queuedWakeUp({ tree, input }: Submission): QueuedInput | undefined {
    if (!WAKE_UPS.has(input.type)) return undefined;
    return open.get(tree)?.find((one) => one.queued && one.submission.input.type === input.type);
  }

  function remove(input: QueuedInput): void {
    const { tree } = input.submission;
    const mine = open.get(tree);
    if (mine?.length === 1) open.delete(tree);
    else mine?.splice(mine.indexOf(input), 1);
  }

  function reject(input: QueuedInput, error: unknown): void {
    remove(input);
    for (const listener of input.listeners) listener.reject(error);
  }

  function putBack(inputs: readonly QueuedInput[]): void {
    if (inputs.length === 0) return;
    for (const one of inputs) one.queued = true;
    queue = [...inputs, ...queue];
  }

  return {
    add(submission, listener) {
      const earlier = queuedWakeUp(submission);
      if (earlier !== undefined) {
        earlier.submission = submission;
        // While the disk is full a tree is loaded repeatedly and wakes itself each time: report that failure once.
        if (!earlier.listeners.some(({ reject: known }) => known === listener.reject)) earlier.listeners.push(listener);
        return;
      }
      const input = { submission, listeners: [listener], failures: 0, mayBeCommitted: false, queued: true };
      const mine = open.get(submission.tree);
      if (mine === undefined) open.set(submission.tree, [input]);
      else mine.push(input);
      // The tree was loaded just now. Inputs that came before it must find the definitions of this process.
      if (submission.input.type === "catalog-changed") queue.unshift(input);
      else queue.push(input);
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
    has: (input) => open.get(input.submission.tree)?.includes(input) === true,
    resolve(input, rejected) {
      remove(input);
      for (const listener of input.listeners) listener.resolve(rejected);
    },
    reject,
    rejectQueued(error) {
      for (const one of queue.splice(0)) reject(one, error);
    },
    pending: (tree) => open.has(tree),
    resultPending(tree, effect) {
      for (const { submission } of open.get(tree) ?? []) {
        if ("effect" in submission.input && submission.input.effect === effect) return true;
      }
      return false;
    },
  };
}
