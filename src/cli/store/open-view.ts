/** The store as commands that only look at it see it: opened to read, also while another process owns it. */

import type { Store, TreeRecord } from "../../contracts/store.ts";
import { ErrandError } from "../../errors.ts";
import { openStoreAt } from "../../runtime/create-runtime.ts";
import { toldStore } from "../../runtime/journals/told-store.ts";
import { requireFormat } from "../../runtime/trees/tree-format.ts";
import { storeName } from "../../stores/store-url.ts";

const MAKES_ONE = 'A first errand run "your task" makes one; --store PATH names another.';

/** Opens the store for as long as the work takes. */
export async function withView<Result>(path: string, work: (store: Store) => Promise<Result>): Promise<Result> {
  requireFile(path);
  const store = await openView(path);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

export async function openView(path: string): Promise<Store> {
  try {
    return toldStore(await openStoreAt(path, "read"));
  } catch (thrown) {
    const missing = thrown instanceof ErrandError && thrown.message.includes("there is no store yet");
    if (!missing) throw thrown;
    throw new ErrandError("store-unreadable", `There is no store ${storeName(path)}`, {
      remedy: MAKES_ONE,
      cause: thrown,
    });
  }
}

/** Nothing is kept in memory that another command could look at. */
export function requireFile(path: string): void {
  if (path !== "memory") return;
  throw new ErrandError("usage", "A store in memory is gone with its process", { remedy: "Name a file: --store PATH" });
}

/** An owner's refusal, with what a person at the command line can do. */
export function explainOwned(thrown: unknown): unknown {
  if (!(thrown instanceof ErrandError) || thrown.code !== "store-owned") return thrown;
  return new ErrandError("store-owned", thrown.message, {
    remedy:
      "That process works on its trees: watch it with errand logs -f TREE, tell it more with errand send TREE, or stop it.",
    cause: thrown,
    details: thrown.details,
  });
}

/** Of a tree that has expired only the record is left, and one of a newer format cannot be read. */
export function requireJournal(tree: TreeRecord): void {
  requireFormat(tree);
  if (tree.status !== "expired") return;
  throw new ErrandError("tree-unknown", `The tree ${tree.id} has expired: only its record is left`, {
    remedy: "Trees are kept for as long as the retention says; export those that must stay.",
  });
}
