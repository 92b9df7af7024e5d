/**
 * Copies one tree into another store, where its status is `arriving` until every tree has been copied.
 *
 * Invariants:
 *  1. It may be interrupted anywhere and started again. Rows that the target has are not written twice, and repeating
 *     any other write changes nothing.
 *  2. The source may have changed since an interrupted attempt. What it erased, sent or took since then is copied too.
 */

import type { Store, TreeCommit, TreeRecord } from "../../contracts/store.ts";
import type { JournalRow } from "../../core/journal/journal.ts";
import { ErrandError } from "../../errors.ts";

export interface Way {
  readonly source: Store;
  readonly target: Store;
}

const ROWS_AT_A_TIME = 500;
/** A commit holds no more rows once they have this many characters. */
const CHARACTERS_AT_A_TIME = 4_000_000;

/** Calls `onRows` with the number of rows of each commit. */
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

/** This first commit has the time at which the tree was created. The last one has the time of its last change. */
async function makeTree(target: Store, tree: TreeRecord): Promise<TreeRecord> {
  const { id, agent, kind, format, epoch, createdAt } = tree;
  const last = tree.status === "expired" ? { last: { seq: tree.nextSeq - 1, hash: tree.hash } } : {};
  const create = { agent, kind, format, ...last };
  const begun = { epoch, nextSeq: 1 };
  await target.commit({ trees: [{ ...arriving(tree, begun, 1, { create }), at: createdAt }], acknowledged: [] });
  const made = await target.tree(id);
  if (made === null) throw new ErrandError("store-differs", `Tree ${id} was copied and is not there.`);
  return made;
}

/** The part of a commit for a tree that is being copied. */
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

/** The bodies of copied rows that the source has changed since. compareTree compares everything else later. */
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

/** Rows from `from` on, in pages that one commit can hold. */
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
