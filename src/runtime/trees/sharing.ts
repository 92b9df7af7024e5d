/**
 * What a runtime does because other workers run trees of the same store: it takes trees that no worker runs, releases
 * its own when they are idle, detects that it has lost one, and polls trees that run elsewhere for callers that wait
 * here.
 *
 * Invariants:
 *  1. A tree that another worker took over is dropped, and its effects are aborted. The epoch prevents writes to it.
 *  2. After this process was cut off or suspended, its trees are compared with the store, until that succeeds. A tree
 *     that differs is dropped and loaded again.
 *  3. If acknowledged rows are gone, that is reported once for each tree.
 */

import type { SharedStore, Store, TreeRecord } from "../../contracts/store.ts";
import type { World } from "../../contracts/world.ts";
import type { TreeId } from "../../core/values/ids.ts";
import { ErrandError, passesByItself } from "../../errors.ts";
import { createDuty } from "../../periodic-duty.ts";
import type { CommitLoop } from "../commits/commit-loop.ts";
import type { EffectStarter } from "../effects/effect-starter.ts";
import type { FailureReports } from "../failure-reports.ts";
import type { Subscriptions } from "../journals/subscriptions.ts";
import type { Outbox } from "../messages/outbox.ts";
import type { Posts } from "../messages/posts.ts";
import type { Replies } from "../messages/replies.ts";
import type { Placement } from "./placement.ts";
import type { Durable, LoadedTree, TreeCache } from "./tree-cache.ts";
import { treeQuarantined } from "./tree-errors.ts";

export interface Sharing {
  /** Begins to take trees that no worker runs. */
  takeTrees(): Promise<void>;
  /** Gives up idle trees that were dropped. */
  release(trees: readonly LoadedTree[]): void;
  dropped(loaded: LoadedTree): void;
  claimed(record: TreeRecord): Promise<void>;
  /** A tree could not be claimed: another worker runs it, or it does not exist. */
  refused(tree: TreeId, exists: boolean): void;
  /** Something is posted to the tree: it is polled often again. */
  expectChange(tree: TreeId): void;
  /** A tree was dropped for good. */
  forget(tree: TreeId): void;
  stop(): Promise<void>;
}

interface SharingParts {
  readonly store: Store;
  readonly shared: SharedStore;
  readonly world: World;
  readonly placement: Placement;
  readonly trees: TreeCache;
  readonly loop: CommitLoop;
  readonly subscriptions: Subscriptions;
  readonly posts: Posts;
  readonly replies: Replies;
  readonly outbox: Outbox;
  readonly starter: EffectStarter;
  /** A tree that runs elsewhere has new steps. */
  readonly readMissedSteps: (tree: TreeId) => Promise<void>;
  readonly onNotice: (notice: ErrandError) => void;
  readonly reports: FailureReports;
}

const POLL_MS = 100;
/** An idle tree that has a channel here is polled once in so many polls: every 5 s. */
const IDLE_POLLS = 50;

export function createSharing(parts: SharingParts): Sharing {
  const { store, shared, world, trees, loop, posts, outbox, starter, onNotice, reports } = parts;
  /** Trees that were dropped and not released: the end of the journal as this process knew it. */
  const before = new Map<TreeId, Durable>();
  const polled = new Map<TreeId, { readonly nextSeq: number; readonly idle: boolean }>();
  let polls = 0;
  let stopped = false;
  let endDispatch: (() => Promise<void>) | null = null;
  const comparing = createDuty({
    time: world,
    work: compare,
    ...reports.ofDuty("Comparing trees after an interruption"),
  });
  const polling = createDuty({ time: world, work: poll, ...reports.ofDuty("Polling trees that other workers run") });
  shared.onReturn(() => void comparing.now());
  polling.later(POLL_MS);

  async function take(id: TreeId): Promise<void> {
    if (stopped || parts.placement.refusedRecently(id)) return;
    try {
      await trees.load(id);
      await posts.takeMail();
    } catch (error) {
      // Housekeeping takes mail that could not be taken now.
      const passes = passesByItself(error) || (error instanceof ErrandError && error.code === "tree-owned");
      if (!passes) reports.failed(error);
    }
  }

  async function compare(): Promise<null> {
    const mine = trees.all();
    if (mine.length === 0) return null;
    const stored = await shared.treeRecords(mine.map((loaded) => loaded.id));
    const records = new Map(stored.map((record) => [record.id, record]));
    for (const loaded of mine) {
      // Of a tree that is being committed, the commit shows whether this process still has it.
      if (stopped || trees.get(loaded.id) !== loaded || loop.pending(loaded.id)) continue;
      if (same(loaded, records.get(loaded.id))) starter.startDeferred(loaded);
      else {
        trees.drop(loaded.id);
        void take(loaded.id);
      }
    }
    return null;
  }

  /** The trees to poll now. All idle trees with a channel would be a long list: each poll takes a part of it. */
  function due(): Set<TreeId> {
    const ids = new Set<TreeId>();
    for (const id of [...parts.subscriptions.watched(), ...parts.replies.awaited()])
      if (trees.get(id) === undefined) ids.add(id);
    polls = (polls + 1) % IDLE_POLLS;
    const known = new Set(ids);
    let position = 0;
    for (const id of outbox.attached()) {
      if (trees.get(id) !== undefined) continue;
      known.add(id);
      position += 1;
      if (polled.get(id)?.idle !== true || position % IDLE_POLLS === polls) ids.add(id);
    }
    for (const id of polled.keys()) if (!known.has(id)) polled.delete(id);
    return ids;
  }

  async function poll(): Promise<number> {
    const ids = due();
    if (ids.size === 0) return POLL_MS;
    for (const { id, nextSeq, busy, questions, wakeAt, status, failures } of await shared.treeRecords([...ids])) {
      if (stopped) return POLL_MS;
      if (status === "quarantined") parts.replies.reject(id, treeQuarantined(id, failures));
      const idle = (!busy && questions === 0 && wakeAt === null) || status === "closed";
      const earlier = polled.get(id);
      if (earlier?.nextSeq !== nextSeq) await parts.readMissedSteps(id).catch(reports.failed);
      if (earlier !== undefined && earlier.nextSeq !== nextSeq) outbox.rest(id, false);
      if (trees.get(id) === undefined) outbox.rest(id, idle);
      polled.set(id, { nextSeq, idle });
    }
    return POLL_MS;
  }

  async function rowsKept(record: TreeRecord, known: Durable): Promise<boolean> {
    if (known.seq === 0) return true;
    if (record.nextSeq <= known.seq) return false;
    const [row] = await store.rows(record.id, known.seq, 1);
    return row?.hash === known.hash;
  }

  return {
    async takeTrees() {
      endDispatch = await shared.dispatch(take, reports.failed);
    },
    release(idle) {
      for (const { id } of idle) before.delete(id);
      shared.releaseOwnership(idle.map(({ id, epoch }) => ({ tree: id, epoch }))).catch(reports.failed);
    },
    dropped: ({ id, durable }) => void before.set(id, durable),
    async claimed(record) {
      const known = before.get(record.id);
      before.delete(record.id);
      if (known === undefined || (await rowsKept(record, known))) return;
      starter.abandon(record.id);
      onNotice(commitsLost(record.id, record.nextSeq - 1, known));
    },
    forget: (id) => void before.delete(id),
    expectChange(id) {
      const earlier = polled.get(id);
      if (earlier !== undefined) polled.set(id, { ...earlier, idle: false });
    },
    refused(id, exists) {
      starter.abandon(id);
      const known = before.get(id);
      before.delete(id);
      if (known === undefined || known.seq === 0) return;
      onNotice(exists ? treeTaken(id) : commitsLost(id, 0, known));
    },
    async stop() {
      stopped = true;
      for (const duty of [comparing, polling]) void duty.stop();
      await endDispatch?.();
    },
  };
}

function same({ epoch, durable }: LoadedTree, record: TreeRecord | undefined): boolean {
  if (record === undefined || record.epoch !== epoch) return false;
  return record.nextSeq - 1 === durable.seq && record.hash === durable.hash;
}

function treeTaken(tree: TreeId): ErrandError {
  return new ErrandError("tree-taken", `Another worker took over tree ${tree} because this one did not respond.`, {
    remedy: "Nothing is lost: that worker goes on with it. If it happens often, find out what blocks this process.",
    details: { tree },
  });
}

function commitsLost(tree: TreeId, left: number, known: Durable): ErrandError {
  const rows = `row ${known.seq} is missing or different, and the journal ends at row ${left}`;
  return new ErrandError("commits-lost", `The database has lost acknowledged rows of tree ${tree}: ${rows}.`, {
    remedy:
      "The database was restored, or a standby that was behind took over. " +
      "The tree goes on from the remaining rows. Make the standby synchronous.",
    details: { tree, known: known.seq, left },
  });
}
