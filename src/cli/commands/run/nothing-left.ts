/** A background process ends by itself: it stays while any tree of its store has something to do, those that it took up on the way too. */

import type { Store } from "../../../contracts/store.ts";
import type { World } from "../../../contracts/world.ts";
import { withStore } from "../../store/open-view.ts";

const POLL_MS = 250;

/** Resolves once nothing is left that this process could do. */
export function nothingLeft(path: string, world: World): Promise<void> {
  return withStore(path, async (store) => {
    while (await somethingLeft(store)) await new Promise<void>((resolve) => world.after(POLL_MS, resolve));
  });
}

async function somethingLeft(store: Store): Promise<boolean> {
  if ((await store.pendingMail(1)).length > 0) return true;
  for (const id of await store.unfinished(Number.MAX_SAFE_INTEGER)) {
    // A tree that could not be loaded is not waited for: nothing moves it on here.
    if ((await store.tree(id))?.failures === 0) return true;
  }
  return false;
}
