/**
 * Several stores read as one: what a command sees of a project. Each tree is in one of them, and mail goes to that one.
 * All were opened to read, so nothing else is written. The clock is that of the first.
 */

import type { Store, TreeQuery, TreeRecord } from "../../contracts/store.ts";
import type { TreeId } from "../../core/values/ids.ts";
import { everyTree } from "../../runtime/trees/every-tree.ts";

/** `stores` must not be empty. */
export function joinStores(stores: readonly Store[]): Store {
  const [only, ...others] = stores;
  if (only === undefined) throw new Error("there is no store to join");
  if (others.length === 0) return only;
  const first = only;
  /** The trees of the last listing from its beginning, for the pages after the first. */
  let listed: readonly TreeRecord[] = [];

  async function holding(tree: TreeId): Promise<Store> {
    for (const store of stores) if ((await store.tree(tree)) !== null) return store;
    return first;
  }

  async function found<Value>(ask: (store: Store) => Promise<Value | null>): Promise<Value | null> {
    for (const store of stores) {
      const value = await ask(store);
      if (value !== null) return value;
    }
    return null;
  }

  async function together<Item>(ask: (store: Store) => Promise<readonly Item[]>): Promise<Item[]> {
    return (await Promise.all(stores.map(ask))).flat();
  }

  async function allTrees(query: Omit<TreeQuery, "before" | "limit">): Promise<TreeRecord[]> {
    const all = await together((store) => everyTree(store, query));
    return all.toSorted((one, other) => other.createdAt - one.createdAt || (one.id < other.id ? 1 : -1));
  }

  return {
    ...first,
    tree: (id) => found((store) => store.tree(id)),
    async trees({ before, limit, ...query }) {
      if (before === undefined) listed = await allTrees(query);
      const from = before === undefined ? 0 : listed.findIndex(({ id }) => id === before) + 1;
      return listed.slice(from, from + limit);
    },
    unfinished: (at) => together((store) => store.unfinished(at)),
    due: (at) => together((store) => store.due(at)),
    async nextWake() {
      const times = (await Promise.all(stores.map((store) => store.nextWake()))).filter((time) => time !== null);
      return times.length === 0 ? null : Math.min(...times);
    },
    rows: async (tree, from, limit) => (await holding(tree)).rows(tree, from, limit),
    blob: async (tree, hash) => (await holding(tree)).blob(tree, hash),
    blobs: async (tree) => (await holding(tree)).blobs(tree),
    snapshot: async (tree) => (await holding(tree)).snapshot(tree),
    run: (id) => found((store) => store.run(id)),
    runOfAgent: (agent) => found((store) => store.runOfAgent(agent)),
    runs: async (query) => (await together((store) => store.runs(query))).slice(0, query.limit),
    post: async (tree, id) => (await holding(tree)).post(tree, id),
    posts: async (tree) => (await holding(tree)).posts(tree),
    pendingMail: async (limit) => (await together((store) => store.pendingMail(limit))).slice(0, limit),
    pendingOutbox: async (tree) => (await holding(tree)).pendingOutbox(tree),
    outboxTrees: () => together((store) => store.outboxTrees()),
    putMail: async (mail) => (await holding(mail.tree)).putMail(mail),
    async close() {
      for (const store of stores) await store.close();
    },
  };
}
