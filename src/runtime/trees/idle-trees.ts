/** Trees in memory that have nothing to do. Some are kept for whoever writes to them next; those that rested longest leave. */

import type { TreeId } from "../../core/ids.ts";
import type { LoadedTree, TreeCache } from "./tree-cache.ts";

const KEPT = 2;

export interface IdleTrees {
  /** Looks at trees that have just worked, and returns those that left memory for them. */
  settle(ids: readonly TreeId[]): readonly LoadedTree[];
  forget(tree: TreeId): void;
}

export function createIdleTrees(trees: () => TreeCache, resting: (tree: TreeId) => boolean): IdleTrees {
  const idle = new Set<TreeId>();
  return {
    settle(ids) {
      for (const id of ids) {
        idle.delete(id);
        if (resting(id)) idle.add(id);
      }
      const left: LoadedTree[] = [];
      for (const id of idle) {
        if (idle.size <= KEPT) break;
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
