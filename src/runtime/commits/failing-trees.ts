/**
 * Trees that the store refuses, or whose step throws. Each is stepped alone, one input at a time, until a commit of it
 * succeeds. After three failures it is quarantined.
 */

import type { TreeId } from "../../core/values/ids.ts";
import { type ErrandError, passesByItself } from "../../errors.ts";
import type { TreeCache } from "../trees/tree-cache.ts";
import { treeQuarantined } from "../trees/tree-errors.ts";
import { storeError } from "./commit-failures.ts";
import type { InputQueue, QueuedInput } from "./input-queue.ts";

export interface FailingTrees {
  /** True if the tree must be stepped alone. */
  has(tree: TreeId): boolean;
  /** The store refused a commit that this tree is part of. */
  suspect(tree: TreeId): void;
  /** A commit of the tree succeeded. */
  clear(tree: TreeId): void;
  /** Records a failure of this tree alone. Its inputs are tried again, or rejected with the quarantine. */
  fail(tree: TreeId, inputs: readonly QueuedInput[], error: unknown): void;
  /** How many failures are being recorded. */
  recording(): number;
}

interface FailingTreesParts {
  readonly trees: TreeCache;
  readonly queue: InputQueue;
  /** The inputs are to be tried again: at once, or after an error of the store. */
  readonly onRetry: (inputs: readonly QueuedInput[], storeFailed?: ErrandError) => void;
  readonly onQuarantined: (tree: TreeId, error: ErrandError) => void;
  readonly onFailure: (error: unknown) => void;
  /** A failure was recorded. */
  readonly onDone: () => void;
}

export function createFailingTrees(parts: FailingTreesParts): FailingTrees {
  const { trees, queue } = parts;
  const alone = new Set<TreeId>();
  let recording = 0;

  async function record(id: TreeId, inputs: readonly QueuedInput[], error: unknown): Promise<void> {
    let failed: Awaited<ReturnType<TreeCache["fail"]>>;
    try {
      failed = await trees.fail(id);
    } catch (cause) {
      if (passesByItself(cause)) return parts.onRetry(inputs, storeError(cause));
      for (const one of inputs) queue.reject(one, error);
      return parts.onFailure(cause);
    }
    if (failed !== null && !failed.quarantined) return parts.onRetry(inputs);
    const quarantine = failed === null ? null : treeQuarantined(id, failed.failures, error);
    alone.delete(id);
    for (const one of inputs) queue.reject(one, quarantine ?? error);
    if (quarantine !== null) parts.onQuarantined(id, quarantine);
  }

  return {
    has: (tree) => alone.has(tree),
    suspect: (tree) => void alone.add(tree),
    clear: (tree) => void alone.delete(tree),
    fail(id, inputs, error) {
      alone.add(id);
      recording += 1;
      void record(id, inputs, error).finally(() => {
        recording -= 1;
        parts.onDone();
      });
    },
    recording: () => recording,
  };
}
