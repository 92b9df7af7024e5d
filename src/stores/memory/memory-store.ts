/**
 * The store in memory: for tests, the simulator and a runtime that needs no durability.
 *
 * Invariants:
 *  1. A commit is atomic, because all of it is checked before any of it is applied, and applying cannot fail.
 *  2. A commit copies nothing: the writer must not change the rows that it gave.
 *  3. There is no second process. `changed` reports only mail, so that mail that was put through this object is found
 *     like mail of another process.
 */

import type { Anchor, Store, StoredRun, TreeRecord } from "../../contracts/store.ts";
import type { TreeId } from "../../core/values/ids.ts";
import { JOURNAL_FORMAT } from "../../core/journal/revision.ts";
import { inOrder } from "../cells.ts";
import { claimable, formatKnown } from "../formats.ts";
import { storeClosed } from "../refusals.ts";
import { checkCommit } from "./check-commit.ts";
import { createMemoryTables, type MemoryTree } from "./memory-tables.ts";

export function createMemoryStore(): Store {
  const description = "The store in memory";
  const tables = createMemoryTables();
  const { trees, posts, pending, busy, waking, changeRecord, postsOf, recordPost } = tables;
  let anchor: Anchor | null = null;
  let format = JOURNAL_FORMAT;
  let mailArrived = false;
  let closed = false;

  /** A method that rejects once the store is closed. */
  function whileOpen<Args extends readonly unknown[], Result>(
    work: (...args: Args) => Result,
  ): (...args: Args) => Promise<Result> {
    return async (...args) => {
      if (closed) throw storeClosed(description);
      return work(...args);
    };
  }

  const recordOf = (tree: MemoryTree): TreeRecord => ({ ...tree.record });
  const idOf = (tree: MemoryTree): TreeId => tree.record.id;
  /** Trees in the order of their creation. */
  const treesWhere = (those: (tree: MemoryTree) => boolean): MemoryTree[] => [...trees.values()].filter(those);

  return {
    description,

    commit: whileOpen((commit) => {
      checkCommit(tables, commit);
      for (const part of commit.trees) tables.apply(part);
      for (const { tree, key } of commit.acknowledged) trees.get(tree)?.outbox.delete(key);
    }),

    claim: whileOpen((ids) => {
      const known = ids.map((id) => trees.get(id)).filter((tree) => tree !== undefined);
      const claimed = known.filter(({ record }) => claimable(record));
      for (const { record } of claimed) record.epoch += 1;
      return claimed.map(recordOf);
    }),
    markFailure: whileOpen((id, quarantine) => {
      const tree = tables.requireTree(id);
      const { failures, status } = tree.record;
      changeRecord(tree, { failures: failures + 1, status: quarantine ? "quarantined" : status });
    }),
    markUnplaced: whileOpen((id, unplaced) => {
      changeRecord(tables.requireTree(id), { unplaced });
    }),
    expire: whileOpen((before, limit) => {
      const mail = new Set([...pending].map(({ tree }) => tree));
      const idle = treesWhere((tree) => isIdleSince(tree, before) && !mail.has(idOf(tree))).slice(0, limit);
      for (const tree of idle) tables.expire(tree);
      return idle.map(idOf);
    }),
    release: whileOpen((id) => {
      const tree = tables.requireTree(id);
      const { status } = tree.record;
      changeRecord(tree, { failures: 0, status: status === "quarantined" ? "open" : status });
    }),

    tree: whileOpen((id) => {
      const tree = trees.get(id);
      return tree === undefined ? null : recordOf(tree);
    }),
    trees: whileOpen(({ status, asking, before, limit }) => {
      const all = [...trees.values()].toReversed();
      const from = before === undefined ? 0 : all.findIndex((tree) => idOf(tree) === before) + 1;
      if (before !== undefined && from === 0) return [];
      const wanted = all
        .slice(from)
        .filter(({ record }) => status === undefined || record.status === status)
        .filter(({ record }) => asking !== true || record.questions > 0);
      return wanted.slice(0, limit).map(recordOf);
    }),
    unfinished: whileOpen((at) =>
      treesWhere((tree) => busy.has(tree) || (waking.get(tree) ?? Infinity) <= at).map(idOf),
    ),
    due: whileOpen((at) => {
      const those = [...waking].filter(([, wakeAt]) => wakeAt <= at).toSorted(([, one], [, other]) => one - other);
      return those.map(([tree]) => idOf(tree));
    }),
    nextWake: whileOpen(() => {
      let next: number | null = null;
      for (const wakeAt of waking.values()) if (next === null || wakeAt < next) next = wakeAt;
      return next;
    }),

    rows: whileOpen((id, from, limit) => {
      const start = Math.max(0, from - 1);
      return trees.get(id)?.rows.slice(start, start + limit) ?? [];
    }),
    blob: whileOpen((id, hash) => trees.get(id)?.blobs.get(hash)?.text ?? null),
    blobs: whileOpen((id) => inOrder([...(trees.get(id)?.blobs.values() ?? [])], ({ hash }) => hash)),
    snapshot: whileOpen((id) => trees.get(id)?.snapshot ?? null),

    run: whileOpen((id) => tables.run(id)),
    runOfAgent: whileOpen((agent) => tables.runOfAgent(agent)),
    runs: whileOpen(({ tree, state: wanted, limit }) => {
      const found: StoredRun[] = [];
      for (const one of treesWhere(({ record }) => tree === undefined || record.id === tree).toReversed()) {
        if (found.length >= limit) break;
        const runs = [...one.runs.values()].toSorted((a, b) => a.number - b.number);
        for (const run of runs)
          if (wanted === undefined || run.state === wanted) found.push({ ...run, tree: idOf(one) });
      }
      return found.slice(0, limit);
    }),
    post: whileOpen((tree, id) => posts.get(tree)?.get(id)?.record ?? null),
    posts: whileOpen((tree) => {
      const taken = [...(posts.get(tree)?.values() ?? [])].flatMap(({ record }) => record ?? []);
      return inOrder(taken, (post) => post.id);
    }),

    putMail: whileOpen((mail) => {
      const known = postsOf(mail.tree);
      const earlier = known.get(mail.id);
      if (earlier !== undefined) return { status: earlier.hash === mail.hash ? "known" : "id-reused" };
      known.set(mail.id, { hash: mail.hash, mail, record: null });
      pending.add(mail);
      mailArrived = true;
      return { status: "put" };
    }),
    pendingMail: whileOpen((limit) => [...pending].slice(0, limit)),
    changed: whileOpen(() => {
      const came = mailArrived;
      mailArrived = false;
      return came;
    }),

    replaceProjections: whileOpen((id, { runs, posts: taken }) => {
      const tree = tables.requireTree(id);
      tree.runs.clear();
      for (const run of runs) tables.patchRun(tree, run);
      const known = postsOf(id);
      for (const [post, { record }] of known) if (record !== null) known.delete(post);
      for (const post of taken) recordPost(id, post);
    }),

    pendingOutbox: whileOpen((id) => [...(trees.get(id)?.outbox.values() ?? [])]),
    outboxTrees: whileOpen(() => treesWhere((tree) => tree.outbox.size > 0).map(idOf)),

    format: whileOpen(() => format),
    raiseFormat: whileOpen((raised) => {
      format = Math.max(format, raised);
    }),

    anchor: whileOpen(() => anchor),
    setAnchor: whileOpen((next) => {
      anchor = next;
    }),

    async close() {
      closed = true;
    },
  };
}

/** True for a tree that has been idle since then, and whose runs' outcomes were all delivered. */
function isIdleSince({ record, runs }: MemoryTree, before: number): boolean {
  const { updatedAt, busy, questions, wakeAt, status } = record;
  if (updatedAt >= before || busy || questions > 0 || wakeAt !== null || !formatKnown(record)) return false;
  if (status !== "open" && status !== "closed") return false;
  return [...runs.values()].every(({ delivery }) => delivery !== "open" && delivery !== "pending");
}
