/**
 * Trees that are loaded because an input waits for them. The inputs stay in order, and go back to the front of the queue when the
 * tree is in memory.
 *
 * Invariants:
 *  1. A bounded number of trees is loaded at the same time, so that a thousand of them do not hold up the event loop.
 *  2. An input whose first commit failed is looked up first: if that commit became durable, the input is not taken again.
 *  3. Results wait for a store that cannot be read for the moment. Posts are rejected then: their callers can try again.
 */

import type { Store } from "../../contracts/store.ts";
import type { TreeId } from "../../core/values/ids.ts";
import { headRead } from "../../core/journal/row.ts";
import { ErrandError } from "../../errors.ts";
import type { TreeCache } from "../trees/tree-cache.ts";
import { storeError, transient } from "./commit-failures.ts";
import type { InputQueue, Waiting } from "./input-queue.ts";

export interface Loads {
  /** Loads the tree of an input that was taken from the queue. */
  load(waiting: Waiting): void;
  /** True while inputs of the tree wait for it. */
  loading(tree: TreeId): boolean;
  /** True if this tree has to wait, because many others are being loaded. */
  full(tree: TreeId): boolean;
  /** Loads a tree that was dropped, because the runs in it hold slots and its timers must be known. */
  comeBack(tree: TreeId): void;
  /** Tries again to load dropped trees that the store could not give back. */
  retry(): void;
  count(): number;
}

interface LoadsParts {
  readonly store: Store;
  readonly trees: TreeCache;
  readonly queue: InputQueue;
  /** Called after every load. */
  readonly onDone: () => void;
  /** The store could not be read for the moment; inputs that can wait are back in the queue. */
  readonly onTransient: (error: ErrandError) => void;
  /** A tree that was dropped could not be loaded again. */
  readonly onFailure: (error: unknown) => void;
}

const LOADS_AT_ONCE = 16;

export function createLoads({ store, trees, queue, onDone, onTransient, onFailure }: LoadsParts): Loads {
  const parked = new Map<TreeId, Waiting[]>();
  /** Dropped trees that the store could not give back for the moment. */
  const missing = new Set<TreeId>();
  let underWay = 0;

  async function bringIn(id: TreeId, inputs: readonly Waiting[]): Promise<void> {
    const ready: Waiting[] = [];
    try {
      await trees.load(id);
      // More inputs may join while the earlier ones are looked up.
      for (let index = 0; index < inputs.length; index += 1) {
        const one = inputs[index];
        if (one !== undefined && !(await settledEarlier(one))) ready.push(one);
      }
    } catch (error) {
      ready.length = 0;
      const waits = transient(error);
      for (const one of inputs) {
        if (!queue.has(one)) continue;
        if (waits && one.submission.post === undefined) ready.push(one);
        else queue.reject(one, error);
      }
      if (waits) onTransient(storeError(error));
    } finally {
      parked.delete(id);
      queue.putBackLoaded(id, ready);
    }
  }

  /** True if an earlier commit of the post became durable: then it is resolved with what that recorded. */
  async function settledEarlier(waiting: Waiting): Promise<boolean> {
    const { tree, post } = waiting.submission;
    // In a shared store another process may have taken it before this one had the tree.
    const unsure = waiting.unsure || store.shared !== undefined;
    const known = post === undefined || !unsure ? null : await store.post(tree, post.id);
    waiting.unsure = false;
    if (known === null) return false;
    const [row] = await store.rows(tree, known.seq, 1);
    queue.resolve(waiting, row === undefined ? null : (headRead(row.head).rejected ?? null));
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

  function comeBack(tree: TreeId): void {
    const work = trees.load(tree).then(
      () => {},
      (error: unknown) => {
        if (transient(error)) {
          missing.add(tree);
          onTransient(storeError(error));
          return;
        }
        const elsewhere =
          error instanceof ErrandError && (error.code === "tree-unknown" || error.code === "tree-owned");
        if (!elsewhere) onFailure(error);
      },
    );
    counted(work);
  }

  return {
    load(waiting) {
      const { tree } = waiting.submission;
      const others = parked.get(tree);
      if (others !== undefined) return void others.push(waiting);
      const inputs = [waiting];
      parked.set(tree, inputs);
      counted(bringIn(tree, inputs));
    },
    loading: (tree) => parked.has(tree),
    full: (tree) => parked.size >= LOADS_AT_ONCE && !parked.has(tree) && trees.get(tree) === undefined,
    comeBack,
    retry() {
      const trees = [...missing];
      missing.clear();
      for (const tree of trees) comeBack(tree);
    },
    count: () => underWay,
  };
}
