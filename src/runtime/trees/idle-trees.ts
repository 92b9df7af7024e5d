/**
 * Trees in memory that have nothing to do. A few stay for the next message; those that were idle longest are evicted.
 *
 * Only a few stay, because loading a tree takes a millisecond for each message of a user, and V8 promotes many idle
 * trees to old space: with 32 of them a delegation took 25 % more CPU. In a shared store more of them stay, because a
 * tree that was evicted has to be claimed again, which takes a round trip to the server.
 */

import { stateBusy } from "../../core/state.ts";
import type { TreeId } from "../../core/values/ids.ts";
import { timersNext } from "../../core/values/timers.ts";
import type { CommitLoop } from "../commits/commit-loop.ts";
import type { EffectRunner } from "../effects/effect-runner.ts";
import type { LoadedTree, TreeCache } from "./tree-cache.ts";

const RETAINED = 2;
const RETAINED_OF_SHARED = 32;

export interface IdleTrees {
  /** True if the tree sends nothing before something is posted to it. */
  silent(loaded: LoadedTree): boolean;
  /** Evicts trees after these have worked, and returns those that it evicted. */
  evict(worked: readonly TreeId[]): readonly LoadedTree[];
  forget(tree: TreeId): void;
}

interface IdleTreesParts {
  readonly trees: TreeCache;
  readonly loop: CommitLoop;
  readonly effects: EffectRunner;
  readonly shared: boolean;
}

export function createIdleTrees({ trees, loop, effects, shared }: IdleTreesParts): IdleTrees {
  const retained = shared ? RETAINED_OF_SHARED : RETAINED;
  const idle = new Set<TreeId>();

  function idleIs({ id, tree }: LoadedTree): boolean {
    return !stateBusy(tree.state) && effects.count(id) === 0 && !loop.pending(id);
  }

  return {
    silent(loaded) {
      const { timers, questions } = loaded.tree.state;
      return idleIs(loaded) && questions.size === 0 && timersNext(timers) === null;
    },
    evict(worked) {
      for (const id of worked) {
        const loaded = trees.get(id);
        idle.delete(id);
        if (loaded !== undefined && idleIs(loaded)) idle.add(id);
      }
      const evicted: LoadedTree[] = [];
      for (const id of idle) {
        if (idle.size <= retained) break;
        const loaded = trees.get(id);
        if (loaded !== undefined && idleIs(loaded)) {
          trees.drop(id);
          evicted.push(loaded);
        } else idle.delete(id);
      }
      return evicted;
    },
    forget: (tree) => void idle.delete(tree),
  };
}
