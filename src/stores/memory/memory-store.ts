/**
 * The store in memory: plain maps, for tests, the simulator and a runtime that needs no durability.
 *
 * Invariants:
 *  1. A commit is checked whole before anything of it is applied, and applying cannot fail: that is its atomicity.
 *  2. Nothing is copied on commit: rows are kept as they were given, and their writer changes them no more.
 *  3. There is no second process; `changed` tells of mail alone, so that mail put through this object is found as mail of
 *     another process would be.
 */

import type { Anchor, Mail, PostRecord, Store, StoredRun, TreeCommit, TreeRecord } from "../../contracts/store.ts";
import type { PostId, RunNumber, TreeId } from "../../core/ids.ts";
import type { RunPatch, RunRecord } from "../../core/journal.ts";
import { JOURNAL_FORMAT } from "../../core/revision.ts";
import { inOrder } from "../cells.ts";
import { claimable, formatKnown } from "../formats.ts";
import { storeClosed, treeUnknown } from "../refusals.ts";
import { madeRun } from "../run-patches.ts";
import { checkCommit } from "./check-commit.ts";
import type { MemoryPost, MemoryState, MemoryTree } from "./memory-state.ts";

interface RunPlace {
  readonly tree: MemoryTree;
  readonly number: RunNumber;
}

export function createMemoryStore(): Store {
  const description = "The store in memory";
  const state: MemoryState = { trees: new Map(), posts: new Map() };
  const { trees, posts } = state;
  const pending = new Set<Mail>();
  const runsById = new Map<string, RunPlace>();
  const runsByAgent = new Map<string, RunPlace>();
  /** Open trees that are busy, and open trees that have a wake time: what would be indexes in a database. */
  const busy = new Set<MemoryTree>();
  const waking = new Map<MemoryTree, number>();
  let anchor: Anchor | null = null;
  let format = JOURNAL_FORMAT;
  let mailCame = false;
  let closed = false;

  function live(): void {
    if (closed) throw storeClosed(description);
  }

  function treeOf(id: TreeId): MemoryTree {
    live();
    const tree = trees.get(id);
    if (tree === undefined) throw treeUnknown(id);
    return tree;
  }

  function setRecord(tree: MemoryTree, record: TreeRecord): void {
    tree.record = record;
    const open = record.status === "open" && formatKnown(record);
    if (open && record.busy) busy.add(tree);
    else busy.delete(tree);
    if (open && record.wakeAt !== null) waking.set(tree, record.wakeAt);
    else waking.delete(tree);
  }

  function postsOf(tree: TreeId): Map<PostId, MemoryPost> {
    const known = posts.get(tree);
    if (known !== undefined) return known;
    const made = new Map<PostId, MemoryPost>();
    posts.set(tree, made);
    return made;
  }

  function recordPost(tree: TreeId, record: PostRecord): void {
    const known = postsOf(tree);
    const mail = known.get(record.id)?.mail ?? null;
    if (mail !== null) pending.delete(mail);
    known.set(record.id, { hash: record.hash, mail: null, record });
  }

  function endPost(tree: TreeId, id: PostId, endedSeq: number): void {
    const record = posts.get(tree)?.get(id)?.record ?? null;
    if (record !== null) recordPost(tree, { ...record, endedSeq });
  }

  function patchRun(tree: MemoryTree, patch: RunPatch): void {
    const known = tree.runs.get(patch.number);
    const run = known === undefined ? madeRun(tree.record.id, patch) : { ...known, ...patch };
    tree.runs.set(run.number, run);
    if (known?.id !== run.id || known.agent !== run.agent) indexRun(tree, run);
  }

  /** A fork repeats the ids of the tree it came from: those name the first. */
  function indexRun(tree: MemoryTree, run: RunRecord): void {
    const place = { tree, number: run.number };
    if (runAt(runsById.get(run.id), ({ id }) => id === run.id) === null) runsById.set(run.id, place);
    if (runAt(runsByAgent.get(run.agent), ({ agent }) => agent === run.agent) === null)
      runsByAgent.set(run.agent, place);
  }

  /** The run that an index names, if the index still tells the truth of it. */
  function runAt(place: RunPlace | undefined, is: (run: RunRecord) => boolean): StoredRun | null {
    const run = place?.tree.runs.get(place.number);
    return place === undefined || run === undefined || !is(run) ? null : { ...run, tree: place.tree.record.id };
  }

  function madeTree(part: TreeCommit, made: NonNullable<TreeCommit["create"]>): MemoryTree {
    const { tree: id, epoch, status, wakeAt, at } = part;
    const { agent, kind, format, last } = made;
    const named = { id, agent, kind, format, status, epoch, wakeAt, failures: 0 };
    const record = { ...named, nextSeq: (last?.seq ?? 0) + 1, hash: last?.hash ?? "" };
    const tree: MemoryTree = {
      record: { ...record, busy: part.busy, questions: part.questions, createdAt: at, updatedAt: at },
      rows: [],
      blobs: new Map(),
      runs: new Map(),
      outbox: new Map(),
      snapshot: null,
    };
    trees.set(id, tree);
    return tree;
  }

  function apply(part: TreeCommit): void {
    const tree = part.create === undefined ? treeOf(part.tree) : madeTree(part, part.create);
    for (const row of part.rows) tree.rows.push(row);
    setRecord(tree, {
      ...tree.record,
      status: part.status,
      epoch: part.epoch,
      nextSeq: tree.record.nextSeq + part.rows.length,
      hash: part.rows.at(-1)?.hash ?? tree.record.hash,
      wakeAt: part.wakeAt,
      busy: part.busy,
      questions: part.questions,
      updatedAt: part.at,
    });
    for (const { hash, text } of part.blobs) tree.blobs.set(hash, text);
    for (const patch of part.runs) patchRun(tree, patch);
    for (const post of part.posts) recordPost(part.tree, post);
    for (const { id, seq } of part.postsEnded) endPost(part.tree, id, seq);
    for (const message of part.outbox) if (!tree.outbox.has(message.key)) tree.outbox.set(message.key, message);
    for (const { seq, body } of part.erased) {
      const row = tree.rows[seq - 1];
      if (row !== undefined) tree.rows[seq - 1] = { ...row, body };
    }
    if (part.snapshot !== undefined) tree.snapshot = part.snapshot;
  }

  /** Leaves the record alone, as a tombstone. */
  function bury(tree: MemoryTree): void {
    setRecord(tree, { ...tree.record, status: "expired" });
    for (const { id, agent } of tree.runs.values()) {
      runsById.delete(id);
      runsByAgent.delete(agent);
    }
    tree.rows.length = 0;
    tree.blobs.clear();
    tree.runs.clear();
    tree.outbox.clear();
    tree.snapshot = null;
    posts.delete(tree.record.id);
  }

  const recordOf = (tree: MemoryTree): TreeRecord => tree.record;
  const idOf = (tree: MemoryTree): TreeId => tree.record.id;
  /** Trees in the order in which they were made. */
  const made = (those: (tree: MemoryTree) => boolean): MemoryTree[] => [...trees.values()].filter(those);

  return {
    description,

    async commit(commit) {
      live();
      checkCommit(state, commit);
      for (const part of commit.trees) apply(part);
      for (const { tree, key } of commit.acknowledged) trees.get(tree)?.outbox.delete(key);
    },

    async claim(ids) {
      live();
      const known = ids.map((id) => trees.get(id)).filter((tree) => tree !== undefined);
      const claimed = known.filter(({ record }) => claimable(record));
      for (const tree of claimed) tree.record = { ...tree.record, epoch: tree.record.epoch + 1 };
      return claimed.map(recordOf);
    },
    async markFailure(id, quarantine) {
      const tree = treeOf(id);
      const { record } = tree;
      const status = quarantine ? "quarantined" : record.status;
      setRecord(tree, { ...record, failures: record.failures + 1, status });
    },
    async expire(before, limit) {
      live();
      const mail = new Set([...pending].map(({ tree }) => tree));
      const resting = made((tree) => restsSince(tree, before) && !mail.has(idOf(tree))).slice(0, limit);
      for (const tree of resting) bury(tree);
      return resting.map(idOf);
    },
    async release(id) {
      const tree = treeOf(id);
      const { record } = tree;
      setRecord(tree, { ...record, failures: 0, status: record.status === "quarantined" ? "open" : record.status });
    },

    async tree(id) {
      live();
      return trees.get(id)?.record ?? null;
    },
    async trees({ status, asking, before, limit }) {
      live();
      const all = [...trees.values()].toReversed().map(recordOf);
      const from = before === undefined ? 0 : all.findIndex(({ id }) => id === before) + 1;
      if (before !== undefined && from === 0) return [];
      const wanted = all
        .slice(from)
        .filter((tree) => (status === undefined || tree.status === status) && (asking !== true || tree.questions > 0));
      return wanted.slice(0, limit);
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
      return trees.get(id)?.blobs.get(hash) ?? null;
    },
    async blobs(id) {
      live();
      const all = [...(trees.get(id)?.blobs ?? [])].map(([hash, text]) => ({ hash, text }));
      return inOrder(all, ({ hash }) => hash);
    },
    async snapshot(id) {
      live();
      return trees.get(id)?.snapshot ?? null;
    },

    async run(id) {
      live();
      return runAt(runsById.get(id), (run) => run.id === id);
    },
    async runOfAgent(agent) {
      live();
      return runAt(runsByAgent.get(agent), (run) => run.agent === agent);
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
      for (const run of runs) patchRun(tree, run);
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
  return [...runs.values()].every(({ delivery }) => delivery === "placed" || delivery === "undeliverable");
}
