/**
 * Moves a store: all of its trees, and the mail that no owner has taken yet.
 *
 * Invariants:
 *  1. At most one of the two stores can run a tree. In the target it is `arriving` until the source records that it was
 *     moved. The source records that only after every tree was compared, and its journal proven on both sides.
 *  2. Nothing is lost wherever the move is interrupted. A second attempt ends like one that was not interrupted.
 */

import { isDeepStrictEqual } from "node:util";
import type { Store, TreeRecord } from "../../contracts/store.ts";
import type { ReplayReport } from "../../core/journal/replay.ts";
import { ErrandError } from "../../errors.ts";
import { countLabel } from "../../view/amounts.ts";
import { proveStored } from "../journals/prove-journal.ts";
import { everyTree } from "../trees/every-tree.ts";
import { requireFormat } from "../trees/tree-errors.ts";
import { arriving, carryTree, type Way } from "./carry-tree.ts";
import { compareTree } from "./compare-tree.ts";

/** A store that can be left for another one. */
export interface MovableStore extends Store {
  /** The store that it was moved to, or null. */
  movedTo(): string | null;
  /** Records that it was moved. False if more mail is waiting than was counted: nothing is recorded then. */
  leave(to: string, mail: number): Promise<boolean>;
}

export interface Move extends Way {
  readonly source: MovableStore;
  /** The target's name, which the source keeps. */
  readonly to: string;
  /** Called with each row and each tree. */
  readonly onProgress: (progress: Progress) => void;
}

export interface Progress {
  /** First the journals are proven in the source. Then they are copied, compared, and proven in the target. */
  readonly pass: "proving" | "carrying";
  /** Trees that are done, of all. */
  readonly trees: number;
  readonly of: number;
  /** Rows of this pass so far. */
  readonly rows: number;
}

export interface Moved {
  readonly trees: number;
  readonly rows: number;
  readonly mail: number;
  /** True if an earlier move has moved everything. */
  readonly already: boolean;
}

const TREES_AT_A_TIME = 1_000;
const ELSEWHERE = "Name another database with --to.";

export async function moveStore(move: Move): Promise<Moved> {
  const { source, target } = move;
  const trees = (await everyTree(source)).toReversed();
  const rows = trees.reduce((sum, tree) => sum + (tree.status === "expired" ? 0 : tree.nextSeq - 1), 0);
  const counts = { trees: trees.length, rows };
  const before = source.movedTo();
  if (before !== null) {
    await requireThere(move, before, trees);
    await arrive(target, trees);
    return { ...counts, mail: 0, already: true };
  }
  await requireRoom(target, trees);
  const proving = counting(move, "proving", trees.length);
  const proofs: (ReplayReport | null)[] = [];
  for (const [index, tree] of trees.entries()) {
    requireFormat(tree);
    proofs.push(await proofOf(source, tree, () => proving(index, 1)));
  }
  const carrying = counting(move, "carrying", trees.length);
  for (const [index, tree] of trees.entries()) {
    await carryTree(move, tree, (count) => carrying(index, count));
    await compareTree(move, tree);
    const proof = await proofOf(target, tree, () => carrying(index, 0));
    if (!isDeepStrictEqual(proof, proofs[index])) {
      throw new ErrandError("store-differs", `Tree ${tree.id} is not proven alike in both stores.`);
    }
  }
  const mail = await carryMail(move);
  await arrive(target, trees);
  return { ...counts, mail, already: false };
}

function counting({ onProgress }: Move, pass: Progress["pass"], of: number): (trees: number, rows: number) => void {
  let all = 0;
  return (trees, rows) => {
    all += rows;
    onProgress({ pass, trees, of, rows: all });
  };
}

/** Throws unless the journal is good. An expired tree has no journal. */
async function proofOf(store: Store, tree: TreeRecord, onRow: () => void): Promise<ReplayReport | null> {
  if (tree.status === "expired") return null;
  const { good, verdict, report } = await proveStored(store, tree, onRow);
  if (good) return report;
  throw new ErrandError("store-corrupt", `Tree ${tree.id} in ${store.description} is ${verdict}.`, {
    remedy: `See what is wrong with it: errand replay ${tree.id}`,
    details: { tree: tree.id },
  });
}

/** Throws unless the database is empty or holds only what an interrupted attempt of this move left there. */
async function requireRoom(target: Store, trees: readonly TreeRecord[]): Promise<void> {
  const ours = new Set(trees.map(({ id }) => id));
  const held = await everyTree(target);
  const running = held.find(({ id, status }) => ours.has(id) && status !== "arriving");
  if (running !== undefined) {
    throw new ErrandError("store-not-empty", `${target.description} works on tree ${running.id} already.`, {
      remedy: `It did not come from this file. ${ELSEWHERE}`,
    });
  }
  const others = held.filter(({ id }) => !ours.has(id));
  if (others.length === 0 || others.length < held.length) return;
  throw new ErrandError(
    "store-not-empty",
    `${target.description} holds ${countLabel(others.length, "tree")} already.`,
    {
      remedy: ELSEWHERE,
    },
  );
}

/** Throws unless the target holds every tree of the source with the same history. It may have more rows since. */
async function requireThere({ target, source }: Move, before: string, trees: readonly TreeRecord[]): Promise<void> {
  for (const tree of trees) {
    const held = await target.tree(tree.id);
    const last = tree.nextSeq - 1;
    const [row] = held === null ? [] : await target.rows(tree.id, last, 1);
    const gone = held?.status === "expired" || tree.status === "expired";
    if (held !== null && (gone || (row?.hash ?? "") === tree.hash)) continue;
    throw new ErrandError(
      "store-moved",
      `${source.description} was moved to ${before}, and tree ${tree.id} is not here.`,
      {
        remedy: "Name the database that it was moved to.",
      },
    );
  }
}

/**
 * Puts the waiting mail into the target, then records in the source that it was moved. More mail may arrive in between.
 */
async function carryMail({ source, target, to }: Move): Promise<number> {
  for (;;) {
    const mail = await source.pendingMail(Number.MAX_SAFE_INTEGER);
    for (const one of mail) {
      const { status } = await target.putMail(one);
      if (status !== "id-reused") continue;
      throw new ErrandError("store-differs", `Message ${one.id} to tree ${one.tree} is another one in the database.`, {
        remedy: ELSEWHERE,
      });
    }
    if (await source.leave(to, mail.length)) return mail.length;
  }
}

/** From here on the target can run the trees. Trees that an earlier attempt released stay as they are. */
async function arrive(target: Store, trees: readonly TreeRecord[]): Promise<void> {
  for (let from = 0; from < trees.length; from += TREES_AT_A_TIME) {
    const parts = [];
    for (const tree of trees.slice(from, from + TREES_AT_A_TIME)) {
      const held = await target.tree(tree.id);
      if (held?.status !== "arriving") continue;
      parts.push(arriving(tree, held, tree.nextSeq, { status: tree.status }));
    }
    if (parts.length > 0) await target.commit({ trees: parts, acknowledged: [] });
  }
}
