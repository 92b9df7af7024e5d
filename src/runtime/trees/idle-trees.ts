/**
 * Trees in memory that have nothing to do. Some are kept for whoever writes to them next; those that rested longest leave.
 *
 * Few are: reading a tree again takes a millisecond, once for each message of a user. V8 takes what many trees that rest are made of for something that lasts, and
 * then collects it late and at a price: with 32 of them a delegation took a quarter more processor time. Where a store is shared, a tree that left is claimed anew, by
 * a journey to the server.
 */

import type { TreeId } from "../../core/values/ids.ts";
import type { LoadedTree, TreeCache } from "./tree-cache.ts";

const KEPT = 2;
const KEPT_OF_SHARED = 32;

export interface IdleTrees {
  /** Looks at trees that have just worked, and returns those that left memory for them. */
  settle(ids: readonly TreeId[]): readonly LoadedTree[];
  forget(tree: TreeId): void;
}

export function createIdleTrees(
  trees: () => TreeCache,
  resting: (tree: TreeId) => boolean,
  shared: boolean,
): IdleTrees {
  const kept = shared ? KEPT_OF_SHARED : KEPT;
  const idle = new Set<TreeId>();
  return {
    settle(ids) {
      for (const id of ids) {
        idle.delete(id);
        if (resting(id)) idle.add(id);
      }
      const left: LoadedTree[] = [];
      for (const id of idle) {
        if (idle.size <= kept) break;
        const loaded = trees().get(id);
        if (loaded !== undefined && resting(id)) {
          trees().drop(id);
          left.push(loaded);
        } else idle.delete(id);
      }
      return left;
    },
    forget: (tree) => void idle.delete(tree),
  };
}
