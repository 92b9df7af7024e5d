/**
 * What a runtime does because others run trees of the same store: takes trees that nobody runs, lets its own go when they are at rest, notices
 * when it has lost one, and watches those that are run elsewhere on behalf of whoever waits for them here.
 *
 * Invariants:
 *  1. A tree that others took over is dropped, and what was executed for it is aborted. Nothing of it is written: the epoch sees to that.
 *  2. After this process was cut off or stood still, its trees are compared with the store; one that differs is dropped and loaded again.
 *     That is tried until it succeeds.
 *  3. Rows that were acknowledged and are gone are told of, once for each tree.
 */

import type { SharedStore, Store, TreeRecord } from "../../contracts/store.ts";
import type { World } from "../../contracts/world.ts";
import type { TreeId } from "../../core/values/ids.ts";
import { ErrandError, passesByItself } from "../../errors.ts";
import { createDuty } from "../../periodic-duty.ts";
import type { DutyReports } from "../failure-reports.ts";
import type { Durable, LoadedTree, TreeCache } from "./tree-cache.ts";

export interface Sharing {
  /** True while effects may be started. */
  alive(): boolean;
  /** Begins to take trees that nobody runs. */
  takeTrees(): Promise<void>;
  /** Gives up trees that were dropped because they are at rest. */
  letGo(trees: readonly LoadedTree[]): void;
  dropped(loaded: LoadedTree): void;
  claimed(record: TreeRecord): Promise<void>;
  /** A tree could not be claimed: another process has it, or it is not there. */
  refused(tree: TreeId, there: boolean): void;
  /** Something is posted to the tree: it is looked at often again. */
  stir(tree: TreeId): void;
  /** A tree was dropped for good. */
  forget(tree: TreeId): void;
  stop(): Promise<void>;
}

interface SharingParts {
  readonly store: Store;
  readonly shared: SharedStore;
  readonly world: World;
  readonly trees: () => TreeCache;
  /** True if this process lacks what the tree needs, and looked a short while ago. */
  readonly refused: (tree: TreeId) => boolean;
  /** True while an input for the tree is on its way: its commit will tell whether the tree is still this process's. */
  readonly occupied: (tree: TreeId) => boolean;
  /** Trees of which somebody here waits for something. */
  readonly watched: () => Iterable<TreeId>;
  /** Trees that have a channel here. */
  readonly attached: () => Iterable<TreeId>;
  /** A tree that is run elsewhere has nothing to do (true), or has again. */
  readonly onRest: (tree: TreeId, rests: boolean) => void;
  /** A tree moved on that is run elsewhere. */
  readonly onMoved: (tree: TreeId) => Promise<void>;
  /** A tree was taken that may have mail. */
  readonly onTaken: () => Promise<void>;
  /** What this process executes for the tree is to be aborted and forgotten. */
  readonly onLost: (tree: TreeId) => void;
  /** The tree is still this process's after a silence: what was held back can be begun. Of one that is occupied the commit shows it. */
  readonly onKept: (loaded: LoadedTree) => void;
  readonly onNotice: (notice: ErrandError) => void;
  readonly onFailure: (error: unknown) => void;
  readonly reports: (duty: string) => DutyReports;
}

const WATCH_MS = 100;
/** A tree at rest that has a channel here is looked at once in so many looks: every 5 s. */
const REST_LOOKS = 50;

export function createSharing(parts: SharingParts): Sharing {
  const { store, shared, world, trees } = parts;
  /** Trees that were dropped though they were not at rest, as this process knew them. */
  const before = new Map<TreeId, Durable>();
  const seen = new Map<TreeId, { readonly nextSeq: number; readonly rests: boolean }>();
  let looks = 0;
  let stopped = false;
  let endDispatch: (() => Promise<void>) | null = null;
  const comparing = createDuty({ time: world, work: compare, ...parts.reports("Comparing trees after a silence") });
  const watching = createDuty({ time: world, work: look, ...parts.reports("Watching trees that others run") });
  shared.onReturn(() => void comparing.now());
  watching.later(WATCH_MS);

  async function take(id: TreeId): Promise<void> {
    if (stopped || parts.refused(id)) return;
    try {
      await trees().load(id);
      await parts.onTaken();
    } catch (error) {
      // Mail that could not be looked for now is looked for by the clock.
      const passes = passesByItself(error) || (error instanceof ErrandError && error.code === "tree-owned");
      if (!passes) parts.onFailure(error);
    }
  }

  async function compare(): Promise<null> {
    const mine = trees().all();
    if (mine.length === 0) return null;
    const records = new Map(
      (await shared.standing(mine.map((loaded) => loaded.id))).map((record) => [record.id, record]),
    );
    for (const loaded of mine) {
      if (stopped || trees().get(loaded.id) !== loaded || parts.occupied(loaded.id)) continue;
      if (same(loaded, records.get(loaded.id))) parts.onKept(loaded);
      else {
        trees().drop(loaded.id);
        void take(loaded.id);
      }
    }
    return null;
  }

  /**
   * Trees that are run elsewhere tell nobody here that they moved on. All channels at rest would make a long list: each look
   * takes a part of it.
   */
  async function look(): Promise<number> {
    const ids = new Set<TreeId>();
    for (const id of parts.watched()) if (trees().get(id) === undefined) ids.add(id);
    looks = (looks + 1) % REST_LOOKS;
    const known = new Set(ids);
    let place = 0;
    for (const id of parts.attached()) {
      if (trees().get(id) !== undefined) continue;
      known.add(id);
      place += 1;
      if (seen.get(id)?.rests !== true || place % REST_LOOKS === looks) ids.add(id);
    }
    for (const id of seen.keys()) if (!known.has(id)) seen.delete(id);
    if (ids.size === 0) return WATCH_MS;
    for (const { id, nextSeq, busy, questions, wakeAt, status } of await shared.standing([...ids])) {
      if (stopped) return WATCH_MS;
      const rests = (!busy && questions === 0 && wakeAt === null) || status === "closed";
      const earlier = seen.get(id);
      if (earlier?.nextSeq !== nextSeq) await parts.onMoved(id);
      if (earlier !== undefined && earlier.nextSeq !== nextSeq) parts.onRest(id, false);
      if (trees().get(id) === undefined) parts.onRest(id, rests);
      seen.set(id, { nextSeq, rests });
    }
    return WATCH_MS;
  }

  async function kept(record: TreeRecord, known: Durable): Promise<boolean> {
    if (known.seq === 0) return true;
    if (record.nextSeq <= known.seq) return false;
    const [row] = await store.rows(record.id, known.seq, 1);
    return row?.hash === known.hash;
  }

  return {
    alive: shared.alive,
    async takeTrees() {
      endDispatch = await shared.dispatch(take, parts.onFailure);
    },
    letGo(released) {
      for (const { id } of released) before.delete(id);
      shared
        .letGo(released.map(({ id, epoch }) => ({ tree: id, epoch })))
        .catch((error: unknown) => parts.onFailure(error));
    },
    dropped: ({ id, durable }) => void before.set(id, durable),
    async claimed(record) {
      const known = before.get(record.id);
      before.delete(record.id);
      if (known === undefined || (await kept(record, known))) return;
      parts.onLost(record.id);
      parts.onNotice(commitsLost(record.id, record.nextSeq - 1, known));
    },
    forget: (id) => void before.delete(id),
    stir(id) {
      const earlier = seen.get(id);
      if (earlier !== undefined) seen.set(id, { ...earlier, rests: false });
    },
    refused(id, there) {
      parts.onLost(id);
      const known = before.get(id);
      before.delete(id);
      if (known === undefined || known.seq === 0) return;
      if (!there) return parts.onNotice(commitsLost(id, 0, known));
      parts.onNotice(
        new ErrandError("tree-taken", `Tree ${id} was taken over by another worker while this one was silent.`, {
          remedy:
            "Nothing is lost: that worker goes on with it. If it happens often, look why this process stands still.",
          details: { tree: id },
        }),
      );
    },
    async stop() {
      stopped = true;
      for (const duty of [comparing, watching]) void duty.stop();
      await endDispatch?.();
    },
  };
}

function same({ epoch, durable }: LoadedTree, record: TreeRecord | undefined): boolean {
  if (record === undefined || record.epoch !== epoch) return false;
  return record.nextSeq - 1 === durable.seq && record.hash === durable.hash;
}

function commitsLost(id: TreeId, left: number, known: Durable): ErrandError {
  return new ErrandError(
    "commits-lost",
    `The database has lost rows of tree ${id} that it had acknowledged: row ${known.seq} is gone or another one; it ends at row ${left}.`,
    {
      remedy:
        "It was restored, or a standby took over that was behind. The tree goes on from what is left; let the standby be a synchronous one.",
      details: { tree: id, known: known.seq, left },
    },
  );
}
