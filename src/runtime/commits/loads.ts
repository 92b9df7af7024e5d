/**
 * Loads trees that inputs wait for. The inputs keep their order, and go back to the front of the queue when the tree is
 * in memory.
 *
 * Invariants:
 *  1. A limited number of trees is loaded at the same time, so that a thousand loads do not block the event loop.
 *  2. An input whose first commit failed is looked up first: if that commit became durable, the input is not taken
 *     again.
 *  3. If the store cannot be read for the moment, results wait and posts are rejected: their callers can try again.
 */

import type { Store } from "../../contracts/store.ts";
import type { TreeId } from "../../core/values/ids.ts";
import { ErrandError } from "../../errors.ts";
import { rejectionAt } from "../journals/stored-rows.ts";
import type { TreeCache } from "../trees/tree-cache.ts";
import { storeError, storeUnavailable } from "./commit-failures.ts";
import type { InputQueue, QueuedInput } from "./input-queue.ts";

export interface Loads {
  /** Loads the tree of an input that was taken from the queue. */
  load(input: QueuedInput): void;
  /** True while inputs of the tree wait for it. */
  loading(tree: TreeId): boolean;
  /** True if this tree has to wait, because many others are being loaded. */
  full(tree: TreeId): boolean;
  /** Loads a tree that was dropped, because its runs hold slots and its timers must be known. */
  reload(tree: TreeId): void;
  /** Tries again to reload dropped trees that the store could not read. */
  retry(): void;
  count(): number;
}

interface LoadsParts {
  readonly store: Store;
  readonly trees: TreeCache;
  readonly queue: InputQueue;
  /** Called after every load. */
  readonly onDone: () => void;
  /** The store could not be read for the moment. Inputs that can wait are back in the queue. */
  readonly onUnavailable: (error: ErrandError) => void;
  /** A dropped tree could not be loaded again. */
  readonly onFailure: (error: unknown) => void;
}

const LOADS_AT_ONCE = 16;

export function createLoads({ store, trees, queue, onDone, onUnavailable, onFailure }: LoadsParts): Loads {
  const waiting = new Map<TreeId, QueuedInput[]>();
  /** Dropped trees that the store could not read. */
  const missing = new Set<TreeId>();
  let underWay = 0;

  async function loadFor(id: TreeId, inputs: readonly QueuedInput[]): Promise<void> {
    const ready: QueuedInput[] = [];
    try {
      await trees.load(id);
      // More inputs may join the list while the earlier ones are looked up.
      for (const input of inputs) if (!(await committedEarlier(input))) ready.push(input);
    } catch (error) {
      ready.length = 0;
      const waits = storeUnavailable(error);
      for (const input of inputs) {
        if (!queue.has(input)) continue;
        if (waits && input.submission.post === undefined) ready.push(input);
        else queue.reject(input, error);
      }
      if (waits) onUnavailable(storeError(error));
    } finally {
      waiting.delete(id);
      queue.putBackLoaded(id, ready);
    }
  }

  /** True if an earlier commit of the post became durable. It is resolved with what that commit recorded. */
  async function committedEarlier(input: QueuedInput): Promise<boolean> {
    const { tree, post } = input.submission;
    // In a shared store another process may have taken the post before this one had the tree.
    const possible = input.mayBeCommitted || store.shared !== undefined;
    const known = post === undefined || !possible ? null : await store.post(tree, post.id);
    input.mayBeCommitted = false;
    if (known === null) return false;
    queue.resolve(input, await rejectionAt(store, tree, known.seq));
    return true;
  }

  function counted(work: Promise<void>): void {
    underWay += 1;
    work
      .finally(() => {
        underWay -= 1;
        onDone();
      })
      .catch(onFailure);
  }

  async function loadDropped(tree: TreeId): Promise<void> {
    try {
      await trees.load(tree);
    } catch (error) {
      if (storeUnavailable(error)) {
        missing.add(tree);
        return onUnavailable(storeError(error));
      }
      const elsewhere = error instanceof ErrandError && (error.code === "tree-unknown" || error.code === "tree-owned");
      if (!elsewhere) onFailure(error);
    }
  }

  const reload = (tree: TreeId): void => counted(loadDropped(tree));

  return {
    load(input) {
      const { tree } = input.submission;
      const others = waiting.get(tree);
      if (others !== undefined) return void others.push(input);
      const inputs = [input];
      waiting.set(tree, inputs);
      counted(loadFor(tree, inputs));
    },
    loading: (tree) => waiting.has(tree),
    full: (tree) => waiting.size >= LOADS_AT_ONCE && !waiting.has(tree) && trees.get(tree) === undefined,
    reload,
    retry() {
      const dropped = [...missing];
      missing.clear();
      for (const tree of dropped) reload(tree);
    },
    count: () => underWay,
  };
}
