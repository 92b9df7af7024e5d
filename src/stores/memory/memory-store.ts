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

  function requireOpen(): void {
    if (closed) throw storeClosed(description);
  }

  function treeOf(id: TreeId): MemoryTree {
    requireOpen();
    return tables.requireTree(id);
  }

  const recordOf = (tree: MemoryTree): TreeRecord => ({ ...tree.record });
  const idOf = (tree: MemoryTree): TreeId => tree.record.id;
  /** Trees in the order of their creation. */
  const treesWhere = (those: (tree: MemoryTree) => boolean): MemoryTree[] => [...trees.values()].filter(those);

  return {
    description,

    async commit(commit) {
      requireOpen();
      checkCommit(tables, commit);
      for (const part of commit.trees) tables.apply(part);
      for (const { tree, key } of commit.acknowledged) trees.get(tree)?.outbox.delete(key);
    },

    async claim(ids) {
      requireOpen();
      const known = ids.map((id) => trees.get(id)).filter((tree) => tree !== undefined);
      const claimed = known.filter(({ record }) => claimable(record));
      for (const { record } of claimed) record.epoch += 1;
      return claimed.map(recordOf);
    },
    async markFailure(id, quarantine) {
      const tree = treeOf(id);
      const { failures, status } = tree.record;
      changeRecord(tree, { failures: failures + 1, status: quarantine ? "quarantined" : status });
    },
    async markUnplaced(id, unplaced) {
      changeRecord(treeOf(id), { unplaced });
    },
    async expire(before, limit) {
      requireOpen();
      const mail = new Set([...pending].map(({ tree }) => tree));
      const idle = treesWhere((tree) => isIdleSince(tree, before) && !mail.has(idOf(tree))).slice(0, limit);
      for (const tree of idle) tables.expire(tree);
      return idle.map(idOf);
    },
    async release(id) {
      const tree = treeOf(id);
      const { status } = tree.record;
      changeRecord(tree, { failures: 0, status: status === "quarantined" ? "open" : status });
    },

    async tree(id) {
      requireOpen();
      const tree = trees.get(id);
      return tree === undefined ? null : recordOf(tree);
    },
    async trees({ status, asking, before, limit }) {
      requireOpen();
      const all = [...trees.values()].toReversed();
      const from = before === undefined ? 0 : all.findIndex((tree) => idOf(tree) === before) + 1;
      if (before !== undefined && from === 0) return [];
      const wanted = all
        .slice(from)
        .filter(({ record }) => status === undefined || record.status === status)
        .filter(({ record }) => asking !== true || record.questions > 0);
      return wanted.slice(0, limit).map(recordOf);
    },
    async unfinished(at) {
      requireOpen();
      return treesWhere((tree) => busy.has(tree) || (waking.get(tree) ?? Infinity) <= at).map(idOf);
    },
    async due(at) {
      requireOpen();
      const those = [...waking].filter(([, wakeAt]) => wakeAt <= at).toSorted(([, one], [, other]) => one - other);
      return those.map(([tree]) => idOf(tree));
    },
    async nextWake() {
      requireOpen();
      let next: number | null = null;
      for (const wakeAt of waking.values()) if (next === null || wakeAt < next) next = wakeAt;
      return next;
    },

    async rows(id, from, limit) {
      requireOpen();
      const start = Math.max(0, from - 1);
      return trees.get(id)?.rows.slice(start, start + limit) ?? [];
    },
    async blob(id, hash) {
      requireOpen();
      return trees.get(id)?.blobs.get(hash)?.text ?? null;
    },
    async blobs(id) {
      requireOpen();
      return inOrder([...(trees.get(id)?.blobs.values() ?? [])], ({ hash }) => hash);
    },
    async snapshot(id) {
      requireOpen();
      return trees.get(id)?.snapshot ?? null;
    },

    async run(id) {
      requireOpen();
      return tables.run(id);
    },
    async runOfAgent(agent) {
      requireOpen();
      return tables.runOfAgent(agent);
    },
    async runs({ tree, state: wanted, limit }) {
      requireOpen();
      const found: StoredRun[] = [];
      for (const one of treesWhere(({ record }) => tree === undefined || record.id === tree).toReversed()) {
        if (found.length >= limit) break;
        const runs = [...one.runs.values()].toSorted((a, b) => a.number - b.number);
        for (const run of runs)
          if (wanted === undefined || run.state === wanted) found.push({ ...run, tree: idOf(one) });
      }
      return found.slice(0, limit);
    },
    async post(tree, id) {
      requireOpen();
      return posts.get(tree)?.get(id)?.record ?? null;
    },
    async posts(tree) {
      requireOpen();
      const taken = [...(posts.get(tree)?.values() ?? [])].flatMap(({ record }) => record ?? []);
      return inOrder(taken, (post) => post.id);
    },

    async putMail(mail) {
      requireOpen();
      const known = postsOf(mail.tree);
      const earlier = known.get(mail.id);
      if (earlier !== undefined) return { status: earlier.hash === mail.hash ? "known" : "id-reused" };
      known.set(mail.id, { hash: mail.hash, mail, record: null });
      pending.add(mail);
      mailArrived = true;
      return { status: "put" };
    },
    async pendingMail(limit) {
      requireOpen();
      return [...pending].slice(0, limit);
    },
    async changed() {
      requireOpen();
      const came = mailArrived;
      mailArrived = false;
      return came;
    },

    async replaceProjections(id, { runs, posts: taken }) {
      const tree = treeOf(id);
      tree.runs.clear();
      for (const run of runs) tables.patchRun(tree, run);
      const known = postsOf(id);
      for (const [post, { record }] of known) if (record !== null) known.delete(post);
      for (const post of taken) recordPost(id, post);
    },

    async pendingOutbox(id) {
      requireOpen();
      return [...(trees.get(id)?.outbox.values() ?? [])];
    },
    async outboxTrees() {
      requireOpen();
      return treesWhere((tree) => tree.outbox.size > 0).map(idOf);
    },

    async format() {
      requireOpen();
      return format;
    },
    async raiseFormat(raised) {
      requireOpen();
      format = Math.max(format, raised);
    },

    async anchor() {
      requireOpen();
      return anchor;
    },
    async setAnchor(next) {
      requireOpen();
      anchor = next;
    },

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
