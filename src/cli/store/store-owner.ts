/** Who works on the trees of a store at this moment, for people. */

import type { Store } from "../../contracts/store.ts";
import { ownerOf } from "../../stores/sqlite/ownership.ts";

/** The process that owns a file, or the workers of a database; null when there is none. */
export async function storeOwner(store: Store, path: string): Promise<string | null> {
  if (store.workers === undefined) return ownerOf(path);
  const workers = await store.workers();
  return workers.length === 0 ? null : workers.map((worker) => worker.name).join(", ");
}
