/**
 * Watches the only tree of a store from outside, while other processes own it, die and own it again. What it gives was made durable first.
 */

import { existsSync } from "node:fs";
import type { Store } from "../../../contracts/store.ts";
import type { TreeId } from "../../../core/values/ids.ts";
import { ErrandError } from "../../../errors.ts";
import type { TreeEvent } from "../../../view/tree-event.ts";
import { openView } from "../../store/open-view.ts";
import { readEvent } from "../../store/read-tree.ts";

const ROWS_AT_A_TIME = 100;

/** A row, by its number and its hash. */
export interface RowPlace {
  readonly seq: number;
  readonly hash: string;
}

export interface JournalWatch {
  /** The events since the last call, in order; none while there is no tree yet. */
  read(): Promise<readonly TreeEvent[]>;
  /** The last row that was read. */
  last(): RowPlace;
  close(): Promise<void>;
}

export function createJournalWatch(path: string): JournalWatch {
  let store: Store | null = null;
  let tree: TreeId | null = null;
  let last: RowPlace = { seq: 0, hash: "" };

  async function found(): Promise<{ readonly store: Store; readonly tree: TreeId } | null> {
    store ??= await openIfThere(path);
    if (store === null) return null;
    tree ??= (await store.trees({ limit: 1 }))[0]?.id ?? null;
    return tree === null ? null : { store, tree };
  }

  return {
    async read() {
      const there = await found();
      if (there === null) return [];
      const events: TreeEvent[] = [];
      for (;;) {
        const rows = await there.store.rows(there.tree, last.seq + 1, ROWS_AT_A_TIME);
        for (const row of rows) {
          events.push(readEvent(there.tree, row));
          last = { seq: row.seq, hash: row.hash };
        }
        if (rows.length === 0) return events;
      }
    },
    last: () => last,
    async close() {
      await store?.close();
      store = null;
    },
  };
}

/** Null while the owner has not made it yet, or is about to. */
async function openIfThere(path: string): Promise<Store | null> {
  if (!existsSync(path)) return null;
  try {
    return await openView(path);
  } catch (thrown) {
    if (thrown instanceof ErrandError && thrown.code === "store-unreadable") return null;
    throw thrown;
  }
}
