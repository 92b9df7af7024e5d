/**
 * The store in memory: for tests, the simulator and a runtime that needs no durability.
 *
 * Invariants:
 *  1. A commit is checked whole before anything of it is applied, and applying cannot fail: that is its atomicity.
 *  2. Nothing is copied on commit: rows are kept as they were given, and their writer changes them no more.
 *  3. There is no second process; `changed` tells of mail alone, so that mail put through this object is found as mail of
 *     another process would be.
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
  let mailCame = false;
  let closed = false;

  function live(): void {
    if (closed) throw storeClosed(description);
  }

  function treeOf(id: TreeId): MemoryTree {
    live();
    return tables.requireTree(id);
  }

  const recordOf = (tree: MemoryTree): TreeRecord => ({ ...tree.record });
  const idOf = (tree: MemoryTree): TreeId => tree.record.id;
  /** Trees in the order in which they were made. */
  const made = (those: (tree: MemoryTree) => boolean): MemoryTree[] => [...trees.values()].filter(those);

  return {
    description,

    async commit(commit) {
      live();
      checkCommit(tables, commit);
      for (const part of commit.trees) tables.apply(part);
      for (const { tree, key } of commit.acknowledged) trees.get(tree)?.outbox.delete(key);
    },

    async claim(ids) {
      live();
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
      live();
      const mail = new Set([...pending].map(({ tree }) => tree));
      const resting = made((tree) => restsSince(tree, before) && !mail.has(idOf(tree))).slice(0, limit);
      for (const tree of resting) tables.expire(tree);
      return resting.map(idOf);
    },
    async release(id) {
      const tree = treeOf(id);
      const { status } = tree.record;
      changeRecord(tree, { failures: 0, status: status === "quarantined" ? "open" : status });
    },

    async tree(id) {
      live();
      const tree = trees.get(id);
      return tree === undefined ? null : recordOf(tree);
    },
    async trees({ status, asking, before, limit }) {
      live();
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
      live();
      return made((tree) => busy.has(tree) || (waking.get(tree) ?? Infinity) <= at).map(idOf);
    },
    async due(at) {
      live();
      const those = [...waking].filter(([, wakeAt]) => wakeAt <= at).toSorted(([, one], [, other]) => one - other);
      return those.map(([tree]) => idOf(tree));
    },
    async nextWake() {
      live();
      let next: number | null = null;
      for (const wakeAt of waking.values()) if (next === null || wakeAt < next) next = wakeAt;
      return next;
    },

    async rows(id, from, limit) {
      live();
      const start = Math.max(0, from - 1);
      return trees.get(id)?.rows.slice(start, start + limit) ?? [];
    },
    async blob(id, hash) {
      live();
      return trees.get(id)?.blobs.get(hash)?.text ?? null;
    },
    async blobs(id) {
      live();
      return inOrder([...(trees.get(id)?.blobs.values() ?? [])], ({ hash }) => hash);
    },
    async snapshot(id) {
      live();
      return trees.get(id)?.snapshot ?? null;
    },

    async run(id) {
      live();
      return tables.run(id);
    },
    async runOfAgent(agent) {
      live();
      return tables.runOfAgent(agent);
    },
    async runs({ tree, state: wanted, limit }) {
      live();
      const found: StoredRun[] = [];
      for (const one of made(({ record }) => tree === undefined || record.id === tree).toReversed()) {
        if (found.length >= limit) break;
        const runs = [...one.runs.values()].toSorted((a, b) => a.number - b.number);
        for (const run of runs)
          if (wanted === undefined || run.state === wanted) found.push({ ...run, tree: idOf(one) });
      }
      return found.slice(0, limit);
    },
    async post(tree, id) {
      live();
      return posts.get(tree)?.get(id)?.record ?? null;
    },
    async posts(tree) {
      live();
      const taken = [...(posts.get(tree)?.values() ?? [])].flatMap(({ record }) => record ?? []);
      return inOrder(taken, (post) => post.id);
    },

    async putMail(mail) {
      live();
      const known = postsOf(mail.tree);
      const earlier = known.get(mail.id);
      if (earlier !== undefined) return { status: earlier.hash === mail.hash ? "known" : "id-reused" };
      known.set(mail.id, { hash: mail.hash, mail, record: null });
      pending.add(mail);
      mailCame = true;
      return { status: "put" };
    },
    async pendingMail(limit) {
      live();
      return [...pending].slice(0, limit);
    },
    async changed() {
      live();
      const came = mailCame;
      mailCame = false;
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
      live();
      return [...(trees.get(id)?.outbox.values() ?? [])];
    },
    async outboxTrees() {
      live();
      return made((tree) => tree.outbox.size > 0).map(idOf);
    },

    async format() {
      live();
      return format;
    },
    async raiseFormat(raised) {
      live();
      format = Math.max(format, raised);
    },

    async anchor() {
      live();
      return anchor;
    },
    async setAnchor(next) {
      live();
      anchor = next;
    },

    async close() {
      closed = true;
    },
  };
}

/** True for a tree at rest since then, all of whose outcomes were told. */
function restsSince({ record, runs }: MemoryTree, before: number): boolean {
  const { updatedAt, busy, questions, wakeAt, status } = record;
  if (updatedAt >= before || busy || questions > 0 || wakeAt !== null || !formatKnown(record)) return false;
  if (status !== "open" && status !== "closed") return false;
  return [...runs.values()].every(({ delivery }) => delivery !== "open" && delivery !== "pending");
}
