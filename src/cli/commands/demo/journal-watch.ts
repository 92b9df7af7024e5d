/** Reads the only tree of a store while other processes own the store. Every event that it returns is durable. */

import { existsSync } from "node:fs";
import type { Store } from "../../../contracts/store.ts";
import type { TreeId } from "../../../core/values/ids.ts";
import { ErrandError } from "../../../errors.ts";
import type { TreeEvent } from "../../../view/tree-event.ts";
import { openView } from "../../store/open-view.ts";
import { readEvent } from "../../store/read-tree.ts";

const ROWS_AT_A_TIME = 100;

/** A row of a journal. */
export interface RowMark {
  readonly seq: number;
  readonly hash: string;
}

export interface JournalWatch {
  /** The events since the last call, in order; none while there is no tree yet. */
  read(): Promise<readonly TreeEvent[]>;
  /** The last row that was read. */
  last(): RowMark;
  close(): Promise<void>;
}

export function createJournalWatch(path: string): JournalWatch {
  let store: Store | null = null;
  let tree: TreeId | null = null;
  let last: RowMark = { seq: 0, hash: "" };
  return {
    async read() {
      store ??= await openIfThere(path);
      tree ??= (await store?.trees({ limit: 1 }))?.[0]?.id ?? null;
      if (store === null || tree === null) return [];
      const events: TreeEvent[] = [];
      for (;;) {
        const rows = await store.rows(tree, last.seq + 1, ROWS_AT_A_TIME);
        if (rows.length === 0) return events;
        for (const row of rows) events.push(readEvent(tree, row));
        last = rows.at(-1) ?? last;
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
