/**
 * The store for readers outside the runtime: what they read is made durable before they get it, so that no loss of
 * power takes it back. The runtime itself reads the store as it is.
 */

import type { Store } from "../../contracts/store.ts";

export function toldStore(store: Store): Store {
  const { flush } = store;
  if (flush === undefined) return store;
  function told<Given extends readonly unknown[], Result>(read: (...given: Given) => Promise<Result>) {
    return async (...given: Given): Promise<Result> => {
      const result = await read(...given);
      await flush?.();
      return result;
    };
  }
  return {
    ...store,
    tree: told(store.tree),
    trees: told(store.trees),
    rows: told(store.rows),
    run: told(store.run),
    runOfAgent: told(store.runOfAgent),
    runs: told(store.runs),
  };
}
