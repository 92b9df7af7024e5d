/**
 * Carrying one tree into another store, where it is `arriving` until all of them are there.
 *
 * Invariants:
 *  1. It may be interrupted anywhere and begun again: rows that are there are not written twice, and everything else is written so that a
 *     repetition changes nothing.
 *  2. The source may have gone on since an interrupted attempt: what it erased, sent or took since then is brought over as well.
 */

import type { Store, TreeCommit, TreeRecord } from "../../contracts/store.ts";
import type { JournalRow } from "../../core/journal/journal.ts";
import { ErrandError } from "../../errors.ts";

/** Where trees come from and where they go. */
export interface Way {
  readonly source: Store;
  readonly target: Store;
}

const ROWS_AT_A_TIME = 500;
/** A commit holds no more rows once they have this many characters. */
const CHARACTERS_AT_A_TIME = 4_000_000;

/** `onRows` is told how many rows were written. */
export async function carryTree(way: Way, tree: TreeRecord, onRows: (count: number) => void): Promise<void> {
  const { source, target } = way;
  const { id } = tree;
  const held = (await target.tree(id)) ?? (await makeTree(target, tree));
  const erased = await changedBodies(way, held);
  let next = held.nextSeq;
  for await (const rows of pages(source, tree, next)) {
    await target.commit({ trees: [arriving(tree, held, next, { rows })], acknowledged: [] });
    next += rows.length;
    onRows(rows.length);
  }
  const outbox = await source.pendingOutbox(id);
  const waiting = new Set(outbox.map(({ key }) => key));
  const sent = (await target.pendingOutbox(id)).filter(({ key }) => !waiting.has(key));
  const snapshot = await source.snapshot(id);
  const rest = {
    erased,
    outbox,
    blobs: await source.blobs(id),
    posts: await source.posts(id),
    runs: await runsOf(source, tree),
    ...(snapshot === null ? {} : { snapshot }),
  };
  await target.commit({
    trees: [arriving(tree, held, next, rest)],
    acknowledged: sent.map(({ key }) => ({ tree: id, key })),
  });
  if (held.failures > tree.failures) await target.release(id);
  const counted = held.failures > tree.failures ? 0 : held.failures;
  for (let failures = counted; failures < tree.failures; failures += 1) await target.markFailure(id, false);
}

export async function runsOf(store: Store, { id }: TreeRecord) {
  return (await store.runs({ tree: id, limit: Number.MAX_SAFE_INTEGER })).map(({ tree: _tree, ...run }) => run);
}

/** The first commit carries the time at which the tree was made, and the last that of its last change. */
async function makeTree(target: Store, tree: TreeRecord): Promise<TreeRecord> {
  const { id, agent, kind, format, epoch, createdAt } = tree;
  const last = tree.status === "expired" ? { last: { seq: tree.nextSeq - 1, hash: tree.hash } } : {};
  const create = { agent, kind, format, ...last };
  const begun = { epoch, nextSeq: 1 };
  await target.commit({ trees: [{ ...arriving(tree, begun, 1, { create }), at: createdAt }], acknowledged: [] });
  const made = await target.tree(id);
  if (made === null) throw new ErrandError("store-differs", `Tree ${id} was carried over and is not there.`);
  return made;
}

/** What a commit says of a tree that is being carried. */
export function arriving(
  tree: TreeRecord,
  held: Pick<TreeRecord, "epoch">,
  expectedSeq: number,
  over: Partial<TreeCommit>,
): TreeCommit {
  const { id, wakeAt, busy, questions, updatedAt } = tree;
  const moving = { status: "arriving", wakeAt, busy, questions, at: updatedAt } as const;
  const nothing = { rows: [], blobs: [], runs: [], posts: [], postsEnded: [], outbox: [], erased: [] };
  return { tree: id, epoch: held.epoch, expectedSeq, ...moving, ...nothing, ...over };
}

/** Of the rows that are there already, the bodies that are not what the source has now. Whether all else is the same is compared later. */
async function changedBodies({ source, target }: Way, held: TreeRecord): Promise<TreeCommit["erased"]> {
  const changed: { seq: number; body: string | null }[] = [];
  for (let from = 1; from < held.nextSeq; from += ROWS_AT_A_TIME) {
    const limit = Math.min(ROWS_AT_A_TIME, held.nextSeq - from);
    const ours = await source.rows(held.id, from, limit);
    for (const [index, { seq, body }] of (await target.rows(held.id, from, limit)).entries()) {
      const now = ours[index]?.body ?? null;
      if (now !== body) changed.push({ seq, body: now });
    }
  }
  return changed;
}

/** Rows from `from` on, in portions that one commit can take. */
async function* pages(source: Store, { id, nextSeq }: TreeRecord, from: number): AsyncGenerator<JournalRow[]> {
  let page: JournalRow[] = [];
  let characters = 0;
  for (let next = from; next < nextSeq;) {
    const rows = await source.rows(id, next, ROWS_AT_A_TIME);
    if (rows.length === 0) break;
    for (const row of rows) {
      page.push(row);
      characters += row.head.length + (row.body?.length ?? 0);
      if (page.length < ROWS_AT_A_TIME && characters < CHARACTERS_AT_A_TIME) continue;
      yield page;
      page = [];
      characters = 0;
    }
    next += rows.length;
  }
  if (page.length > 0) yield page;
}
