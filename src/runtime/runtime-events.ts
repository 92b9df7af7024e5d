/**
 * Events that parts of the runtime send to parts that are created after them. `createRuntime` creates the parts in
 * order, and gives each part those that it uses. Only these events go the other way; event-handlers.ts handles them.
 */

import type { CommitEvents } from "./commits/commit-loop.ts";
import type { CacheEvents } from "./trees/tree-cache.ts";

export interface RuntimeEvents extends CacheEvents, CommitEvents {
  /** A tree wants to be woken now. */
  wakeTimeReached(): void;
}

/** `events` is what the senders get. Its handlers are connected when all parts exist. */
export function createRuntimeEvents(): { readonly events: RuntimeEvents; connect(handlers: RuntimeEvents): void } {
  let connected: RuntimeEvents | null = null;
  const handlers = (): RuntimeEvents => {
    if (connected === null) throw new Error("An event was sent before the runtime was complete.");
    return connected;
  };
  return {
    events: {
      wakeTimeReached: () => handlers().wakeTimeReached(),
      treeClaimed: (record) => handlers().treeClaimed(record),
      treeRefused: (tree, exists) => handlers().treeRefused(tree, exists),
      treeLoaded: (loaded) => handlers().treeLoaded(loaded),
      treeDropped: (loaded) => handlers().treeDropped(loaded),
      stepCommitted: (committed) => handlers().stepCommitted(committed),
      acknowledged: (keys) => handlers().acknowledged(keys),
      batchCommitted: (trees) => handlers().batchCommitted(trees),
      commitInDoubt: (tree, steps) => handlers().commitInDoubt(tree, steps),
      queueEmpty: () => handlers().queueEmpty(),
      treeQuarantined: (tree, error) => handlers().treeQuarantined(tree, error),
    },
    connect(given) {
      connected = given;
    },
  };
}
