/**
 * Trees in memory. A tree with nothing to do is dropped once it is not among the last few that had; a waiting tree costs a row.
 *
 * Invariants:
 *  1. A tree is loaded once at a time; whoever asks meanwhile waits for that load.
 *  2. A tree whose load throws stops alone; after three failures in a row it is quarantined. One that needs what this process lacks is let go (`placement.ts`).
 *  3. A dropped tree had no effect under way, no commit pending and no input queued.
 */

import type { Snapshot, Store, TreeRecord } from "../../contracts/store.ts";
import { SNAPSHOT_REVISION } from "../../core/journal/revision.ts";
import type { TreeId } from "../../core/values/ids.ts";
import { type Tree, treeNew, type TreeSource, treeToText } from "../../core/tree.ts";
import { ErrandError } from "../../errors.ts";
import type { DefinitionLibrary } from "../definitions/definition-library.ts";
import { transient } from "../commits/commit-failures.ts";
import type { Placement } from "./placement.ts";
import { readTree } from "./read-tree.ts";
import { requireFormat } from "./tree-format.ts";

export interface LoadedTree {
  readonly id: TreeId;
  readonly tree: Tree;
  readonly epoch: number;
  /** The last row that is known to be committed. */
  durable: Durable;
  /** The sequence of the newest snapshot, and its length. */
  snapshotSeq: number;
  snapshotLength: number;
  /** The length of the rows since. */
  rowsLength: number;
}

/**
 * Where a tree stands in the cache. V8 keeps the old tables of a map that trees enter and leave all the time until it collects all of memory, and with them what
 * their entries name: of a tree that left, nothing.
 */
interface Place {
  loaded: LoadedTree | null;
}

export interface Durable {
  readonly seq: number;
  readonly hash: string;
}

const MAX_FAILURES = 3;
/**
 * A snapshot is made when this many rows came since the last, and at least half as many as it covers, and so many for each living agent, and
 * not less to read than the last one was; it is written if it is no longer than those rows. It saves reading them, so it must not cost more than they did. An agent
 * is some 3 KB of a snapshot even before it has said anything, and more if its prompt is long; a row is some 700 bytes.
 */
const SNAPSHOT_ROWS = 200;
const SNAPSHOT_ROWS_OF_AGENT = 32;

export interface TreeCache {
  get(id: TreeId): LoadedTree | undefined;
  all(): readonly LoadedTree[];
  /** A tree that does not exist yet: its first step makes it. */
  begin(id: TreeId): LoadedTree;
  load(id: TreeId): Promise<LoadedTree>;
  /** Forgets a tree: the next use loads what the store holds. */
  drop(id: TreeId): void;
  /** Forgets a tree that failed, and counts the failure. Null if the store does not hold it. */
  fail(id: TreeId): Promise<{ readonly failures: number; readonly quarantined: boolean } | null>;
  /** The snapshot that is due, if one is: always when texts are erased, because the last one may hold them. */
  snapshotDue(loaded: LoadedTree, erasing: boolean): Snapshot | null;
  size(): number;
}

interface TreeCacheParts {
  readonly store: Store;
  readonly source: TreeSource;
  readonly library: DefinitionLibrary;
  readonly placement: Placement;
  /** Called when a tree comes into memory from the store, and when one leaves it. */
  readonly onLoaded: (loaded: LoadedTree) => void;
  readonly onDropped: (loaded: LoadedTree) => void;
  /** Called with a tree that was claimed, before it is read. */
  readonly onClaimed: (record: TreeRecord) => Promise<void>;
  /** Called when a tree could not be claimed: another process of a shared store runs it, or it is not there. */
  readonly onRefused: (id: TreeId, there: boolean) => void;
}

export function createTreeCache(parts: TreeCacheParts): TreeCache {
  const { store, source, library, onLoaded, onDropped } = parts;
  const trees = new Map<TreeId, Place>();

  function get(id: TreeId): LoadedTree | undefined {
    return trees.get(id)?.loaded ?? undefined;
  }

  function drop(id: TreeId): void {
    const place = trees.get(id);
    if (place === undefined || place.loaded === null) return;
    const { loaded } = place;
    place.loaded = null;
    trees.delete(id);
    onDropped(loaded);
  }
  const loads = new Map<TreeId, Promise<LoadedTree>>();

  async function read(id: TreeId): Promise<LoadedTree> {
    await parts.placement.recall(id);
    const [record] = await store.claim([id]);
    if (record === undefined) throw await notClaimed(id);
    try {
      await parts.onClaimed(record);
      return await readClaimed(record);
    } catch (error) {
      // Another process may do better with it, or count the failures to their end.
      await store.shared?.letGo([{ tree: id, epoch: record.epoch }]);
      throw error;
    }
  }

  async function readClaimed(record: TreeRecord): Promise<LoadedTree> {
    const { id } = record;
    if (record.status === "expired") {
      throw new ErrandError(
        "tree-unknown",
        `Tree ${id} has expired: its journal was kept for as long as the retention says.`,
      );
    }
    if (record.status === "quarantined") {
      throw new ErrandError("tree-quarantined", `Tree ${id} is quarantined: it failed ${record.failures} times.`, {
        remedy: `Look at its journal, then release it with: errand resume ${id}`,
      });
    }
    const durable = { seq: record.nextSeq - 1, hash: record.hash };
    const held = { id, epoch: record.epoch, durable, ...(await readCounted(record)) };
    await parts.placement.require(record, held.tree.state);
    return held;
  }

  async function readCounted(record: TreeRecord): ReturnType<typeof readTree> {
    try {
      return await readTree(store, record, source, library);
    } catch (cause) {
      // An outage of the store says nothing about the tree.
      if (!transient(cause)) await store.markFailure(record.id, record.failures + 1 >= MAX_FAILURES);
      throw cause;
    }
  }

  async function notClaimed(id: TreeId): Promise<ErrandError> {
    const record = await store.tree(id);
    parts.onRefused(id, record !== null);
    if (record === null) return new ErrandError("tree-unknown", `There is no tree ${id} in ${store.description}.`);
    requireFormat(record);
    if (record.status === "arriving") {
      return new ErrandError("tree-owned", `Tree ${id} is still being moved here.`, {
        remedy: "Finish errand migrate; mail that was sent to the tree is taken then.",
        details: { tree: id },
      });
    }
    return new ErrandError("tree-owned", `Tree ${id} is run by another worker.`, {
      remedy: "Send it mail; that worker takes it.",
      details: { tree: id },
    });
  }

  return {
    get,
    all: () => [...trees.values()].flatMap(({ loaded }) => loaded ?? []),
    begin(id) {
      const durable = { seq: 0, hash: "" };
      const loaded = { id, tree: treeNew(source), epoch: 1, durable, snapshotSeq: 0, snapshotLength: 0, rowsLength: 0 };
      trees.set(id, { loaded });
      return loaded;
    },
    load(id) {
      const known = get(id);
      if (known !== undefined) return Promise.resolve(known);
      const under = loads.get(id);
      if (under !== undefined) return under;
      const load = read(id)
        .then((loaded) => {
          trees.set(id, { loaded });
          onLoaded(loaded);
          return loaded;
        })
        .finally(() => loads.delete(id));
      loads.set(id, load);
      return load;
    },
    drop,
    async fail(id) {
      drop(id);
      const record = await store.tree(id);
      if (record === null) return null;
      const failures = record.failures + 1;
      const quarantined = failures >= MAX_FAILURES;
      await store.markFailure(id, quarantined);
      await store.shared?.letGo([{ tree: id, epoch: record.epoch }]);
      return { failures, quarantined };
    },
    snapshotDue(loaded, erasing) {
      const { tree, snapshotSeq, snapshotLength, rowsLength } = loaded;
      const since = tree.state.seq - snapshotSeq;
      const enough = Math.max(SNAPSHOT_ROWS, snapshotSeq / 2, SNAPSHOT_ROWS_OF_AGENT * tree.state.agents.size);
      const worth = since >= enough && rowsLength >= snapshotLength;
      const needed = erasing && snapshotSeq > 0;
      if (!worth && !needed) return null;
      const text = treeToText(tree);
      if (needed || text.length <= rowsLength) return { seq: tree.state.seq, revision: SNAPSHOT_REVISION, text };
      loaded.snapshotLength = text.length;
      return null;
    },
    size: () => trees.size,
  };
}
