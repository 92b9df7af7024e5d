/**
 * Subscriptions: every durable row of a tree, in order, from any point on. A reader that is slow is not waited for:
 * what does not fit its buffer it reads from the store, so it neither delays a run nor grows memory, and misses
 * nothing.
 */

import type { Store } from "../../contracts/store.ts";
import type { TreeId } from "../../core/values/ids.ts";
import type { JournalRow } from "../../core/journal/journal.ts";

export interface Subscriptions {
  publish(tree: TreeId, row: JournalRow): void;
  /** Rows of the tree may be durable that were not published: its readers read the store. */
  readMissed(tree: TreeId): void;
  /**
   * Rows after `after`, those to come included, until the reader stops, the signal aborts or the subscriptions close.
   */
  rows(tree: TreeId, after: number, signal?: AbortSignal): AsyncGenerator<JournalRow, void, void>;
  /** The tree has stopped: its readers get this error after the durable rows. */
  giveUp(tree: TreeId, error: Error): void;
  /** Trees with readers. */
  watched(): Iterable<TreeId>;
  close(): void;
}

const BUFFER_ROWS = 256;
const ROWS_AT_A_TIME = 100;

interface Reader {
  /** True if the store may hold rows that the buffer does not. */
  behind: boolean;
  buffer: JournalRow[];
  failure: Error | null;
  wake: (() => void) | null;
}

export function createSubscriptions(store: Store): Subscriptions {
  const readers = new Map<TreeId, Set<Reader>>();
  let closed = false;

  function leave(tree: TreeId, reader: Reader): void {
    const all = readers.get(tree);
    all?.delete(reader);
    if (all?.size === 0) readers.delete(tree);
  }

  return {
    publish(tree, row) {
      for (const reader of readers.get(tree) ?? []) {
        if (reader.buffer.length >= BUFFER_ROWS) reader.buffer = [];
        reader.buffer.push(row);
        reader.wake?.();
      }
    },
    readMissed(tree) {
      for (const reader of readers.get(tree) ?? []) {
        reader.behind = true;
        reader.wake?.();
      }
    },
    async *rows(tree, after, signal) {
      const reader: Reader = { buffer: [], failure: null, wake: null, behind: true };
      const all = readers.get(tree) ?? new Set();
      all.add(reader);
      readers.set(tree, all);
      let seen = after;
      const stop = (): void => reader.wake?.();
      signal?.addEventListener("abort", stop);
      try {
        while (signal?.aborted !== true) {
          const given = reader.buffer.splice(0).filter((row) => row.seq > seen);
          const missing = reader.behind || given.some((row, index) => row.seq !== seen + 1 + index);
          // Events that were published before the end are still delivered.
          if (closed && (missing || given.length === 0)) return;
          reader.behind = false;
          const rows = missing ? await store.rows(tree, seen + 1, ROWS_AT_A_TIME) : given;
          if (missing && rows.length === ROWS_AT_A_TIME) reader.behind = true;
          await store.flush?.();
          for (const row of rows) {
            seen = row.seq;
            yield row;
          }
          if (reader.buffer.length > 0 || reader.behind || closed) continue;
          if (reader.failure !== null) throw reader.failure;
          await new Promise<void>((resolve) => {
            reader.wake = resolve;
          });
          reader.wake = null;
        }
      } finally {
        signal?.removeEventListener("abort", stop);
        leave(tree, reader);
      }
    },
    giveUp(tree, error) {
      for (const reader of readers.get(tree) ?? []) {
        reader.failure = error;
        reader.wake?.();
      }
    },
    watched: () => readers.keys(),
    close() {
      closed = true;
      for (const all of readers.values()) for (const reader of all) reader.wake?.();
    },
  };
}
