/**
 * Trees in memory. A tree that waits costs no memory: it is a row of the store.
 *
 * Invariants:
 *  1. A tree is loaded once at a time; other callers that need it wait for the same load.
 *  2. A tree whose load throws fails alone; after three failures it is quarantined. A tree that needs what this
 *     process lacks is released (placement.ts).
 *  3. A tree is dropped only while no effect of it is executed, no commit is pending and no input is queued, or because
 *     it failed.
 */

import type { Snapshot, Store, TreeRecord } from "../../contracts/store.ts";
import { SNAPSHOT_REVISION } from "../../core/journal/revision.ts";
import type { TreeId } from "../../core/values/ids.ts";
import { type Tree, treeNew, type TreeSource, treeToText } from "../../core/tree.ts";
import type { ErrandError } from "../../errors.ts";
import { storeUnavailable } from "../commits/commit-failures.ts";
import type { DefinitionLibrary } from "../definitions/definition-library.ts";
import type { Placement } from "./placement.ts";
import { readTree } from "./read-tree.ts";
import { requireFormat, treeExpired, treeOwned, treeQuarantined, treeUnknown } from "./tree-errors.ts";

/** The end of the journal that is known to be committed. */
export interface Durable {
  readonly seq: number;
  readonly hash: string;
}

export interface LoadedTree {
  readonly id: TreeId;
  readonly tree: Tree;
  readonly epoch: number;
  durable: Durable;
  /** The sequence of the newest snapshot, and its length. */
  snapshotSeq: number;
  snapshotLength: number;
  /** The length of the rows since. */
  rowsLength: number;
}

const MAX_FAILURES = 3;
/**
 * A snapshot saves reading the rows since the last one, so writing it must not cost more than they did. It is made when
 * all of these hold: that many rows came since the last snapshot, half as many as it covers, that many for each living
 * agent, and they are as long as the last snapshot was. It is written if it is no longer than those rows. An agent is
 * about 3 KB of a snapshot before it has said anything; a row is about 700 bytes.
 */
const SNAPSHOT_ROWS = 200;
const SNAPSHOT_ROWS_OF_AGENT = 32;

export interface TreeCache {
  get(id: TreeId): LoadedTree | undefined;
  all(): readonly LoadedTree[];
  /** A tree that does not exist yet: its first step creates it. */
  begin(id: TreeId): LoadedTree;
  load(id: TreeId): Promise<LoadedTree>;
  /** Forgets a tree: the next use loads what the store holds. */
  drop(id: TreeId): void;
  /** Forgets a tree that failed, and counts the failure. Null if the store does not hold it. */
  fail(id: TreeId): Promise<{ readonly failures: number; readonly quarantined: boolean } | null>;
  /** The snapshot that is due, or null. Always due when texts are erased, because the last one may hold them. */
  snapshotDue(loaded: LoadedTree, erasing: boolean): Snapshot | null;
  size(): number;
}

export interface CacheEvents {
  /** A tree was claimed, and is about to be read. */
  treeClaimed(record: TreeRecord): Promise<void>;
  /** A tree could not be claimed: it does not exist, or another process of a shared store runs it. */
  treeRefused(id: TreeId, exists: boolean): void;
  /** A tree came into memory from the store. */
  treeLoaded(loaded: LoadedTree): void;
  /** A tree left memory. */
  treeDropped(loaded: LoadedTree): void;
}

interface TreeCacheParts {
  readonly store: Store;
  readonly source: TreeSource;
  readonly library: DefinitionLibrary;
  readonly placement: Placement;
  readonly events: CacheEvents;
}

export function createTreeCache({ store, source, library, placement, events }: TreeCacheParts): TreeCache {
  const trees = new Map<TreeId, LoadedTree>();
  const loads = new Map<TreeId, Promise<LoadedTree>>();

  function drop(id: TreeId): void {
    const loaded = trees.get(id);
    if (loaded === undefined) return;
    trees.delete(id);
    events.treeDropped(loaded);
  }

  async function claimAndRead(id: TreeId): Promise<LoadedTree> {
    await placement.requireNotRefused(id);
    const [record] = await store.claim([id]);
    if (record === undefined) throw await notClaimed(id);
    try {
      await events.treeClaimed(record);
      return await readClaimed(record);
    } catch (error) {
      // Another process may succeed, or count the failures up to the quarantine.
      await store.shared?.releaseOwnership([{ tree: id, epoch: record.epoch }]);
      throw error;
    }
  }

  async function readClaimed(record: TreeRecord): Promise<LoadedTree> {
    const { id, epoch } = record;
    if (record.status === "expired") throw treeExpired(id);
    if (record.status === "quarantined") throw treeQuarantined(id, record.failures);
    const durable = { seq: record.nextSeq - 1, hash: record.hash };
    const loaded = { id, epoch, durable, ...(await readCounted(record)) };
    await placement.require(record, loaded.tree.state);
    return loaded;
  }

  async function readCounted(record: TreeRecord): ReturnType<typeof readTree> {
    try {
      return await readTree(store, record, source, library);
    } catch (cause) {
      // An outage of the store is not a failure of the tree.
      if (!storeUnavailable(cause)) await store.markFailure(record.id, record.failures + 1 >= MAX_FAILURES);
      throw cause;
    }
  }

  async function notClaimed(id: TreeId): Promise<ErrandError> {
    const record = await store.tree(id);
    events.treeRefused(id, record !== null);
    if (record === null) return treeUnknown(id, store);
    requireFormat(record);
    return record.status === "arriving"
      ? treeOwned(
          id,
          "is still being moved here",
          "Finish errand migrate. Mail that was sent to the tree is taken then.",
        )
      : treeOwned(id, "is run by another worker", "Send it mail: that worker takes it.");
  }

  return {
    get: (id) => trees.get(id),
    all: () => [...trees.values()],
    begin(id) {
      const durable = { seq: 0, hash: "" };
      const loaded = { id, tree: treeNew(source), epoch: 1, durable, snapshotSeq: 0, snapshotLength: 0, rowsLength: 0 };
      trees.set(id, loaded);
      return loaded;
    },
    load(id) {
      const known = trees.get(id);
      if (known !== undefined) return Promise.resolve(known);
      const underWay = loads.get(id);
      if (underWay !== undefined) return underWay;
      const load = claimAndRead(id)
        .then((loaded) => {
          trees.set(id, loaded);
          events.treeLoaded(loaded);
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
      await store.shared?.releaseOwnership([{ tree: id, epoch: record.epoch }]);
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
