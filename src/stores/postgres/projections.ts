/**
 * Writing the projections: runs, and posts that were taken. Every function here runs inside a transaction of its caller.
 *
 * Invariants:
 *  1. A patch touches the columns that it holds and no other. Patches of the same columns share a statement.
 *  2. Mail becomes a post in place: it keeps its arrival, gets its sequence and loses its payload.
 */

import type { PostRecord } from "../../contracts/store.ts";
import type { PostId, TreeId } from "../../core/ids.ts";
import type { RunPatch, RunRecord } from "../../core/journal.ts";
import { numberOf } from "../cells.ts";
import { patchedRunUnknown, postReused } from "../refusals.ts";
import { patchIsWhole } from "../run-patches.ts";
import { type Cell, columns, textCell, textOf } from "./cells.ts";
import type { Ask } from "./database.ts";
import { mergePatches } from "./merge-parts.ts";
import { arraysOf, type ColumnTypes, given, insertOf } from "./table-write.ts";

/** A tree by both of its names: the key that stands in rows, and the id that errors speak of. */
export interface TreeKey {
  readonly key: number;
  readonly id: TreeId;
}

const RUN_TYPES: ColumnTypes = {
  tree: "bigint",
  number: "integer",
  id: "text",
  agent: "text",
  parent: "integer",
  mode: "smallint",
  definition: "text",
  name: "text",
  state: "smallint",
  status: "smallint",
  reason: "text",
  report: "smallint",
  nudged: "boolean",
  delivery: "smallint",
  undeliverable: "text",
  batch: "text",
  cleanup: "smallint",
  created_at: "bigint",
  started_at: "bigint",
  ended_at: "bigint",
  deadline: "bigint",
  tokens: "bigint",
  cost: "bigint",
  created_seq: "bigint",
  ended_seq: "bigint",
};
const RUN_NAMES = Object.keys(RUN_TYPES);
const WHOLE_RUNS = insertOf(
  "whole-runs",
  "errand.runs",
  RUN_TYPES,
  `on conflict (tree, number) do update set ${RUN_NAMES.slice(2)
    .map((name) => `${name} = excluded.${name}`)
    .join(", ")}`,
);

const POST_TYPES: ColumnTypes = { tree: "text", id: "text", hash: "text", seq: "bigint", ended_seq: "bigint" };
const RECORD_POSTS = insertOf(
  "record-posts",
  "errand.posts",
  POST_TYPES,
  `on conflict (tree, id) do update set payload = null, seq = excluded.seq, ended_seq = excluded.ended_seq
   where posts.hash = excluded.hash returning tree, id`,
);
const ENDED_TYPES: ColumnTypes = { tree: "text", id: "text", seq: "bigint" };
const END_POSTS = {
  name: "errand-end-posts",
  text: `update errand.posts p set ended_seq = given.seq from ${given(ENDED_TYPES)}
         where p.tree = given.tree and p.id = given.id and p.seq is not null`,
};

interface Patched {
  readonly tree: TreeKey;
  readonly patch: RunPatch;
}

function cellsOf({ tree, patch }: Patched): Map<string, Cell> {
  const cells = new Map<string, Cell>([["tree", tree.key]]);
  for (const column of columns.runColumns) {
    const cell = column.cell(patch);
    if (cell !== undefined) cells.set(column.name, cell);
  }
  return cells;
}

/** Runs made and changed by a commit; those of one tree together. */
export async function patchRuns(
  ask: Ask,
  trees: readonly (TreeKey & { readonly runs: readonly RunPatch[] })[],
): Promise<void> {
  const patches = trees.flatMap((tree) => mergePatches(tree.runs).map((patch) => ({ tree, patch })));
  const whole = patches.filter(({ patch }) => patchIsWhole(patch));
  if (whole.length > 0) {
    const rows = whole.map((one) => [...cellsOf(one).values()]);
    await ask(WHOLE_RUNS, arraysOf(RUN_TYPES, rows));
  }
  const alike = Map.groupBy(
    patches.filter(({ patch }) => !patchIsWhole(patch)),
    (one) => [...cellsOf(one).keys()].join(","),
  );
  for (const [names, ones] of alike) await patchAlike(ask, names.split(","), ones);
}

async function patchAlike(ask: Ask, names: readonly string[], ones: readonly Patched[]): Promise<void> {
  const types = Object.fromEntries(names.map((name) => [name, RUN_TYPES[name] ?? "text"]));
  const changed = names.slice(2).map((name) => `${name} = given.${name}`);
  const text = `update errand.runs r set ${changed.length === 0 ? "number = given.number" : changed.join(", ")}
    from ${given(types)} where r.tree = given.tree and r.number = given.number returning r.tree, r.number`;
  // Names of prepared statements are cut at 63 bytes: the columns as bits name them all.
  const bits = RUN_NAMES.map((name) => (names.includes(name) ? "1" : "0")).join("");
  const statement = { name: `errand-patch-${Number.parseInt(bits, 2).toString(36)}`, text };
  const done = await ask(
    statement,
    arraysOf(
      types,
      ones.map((one) => [...cellsOf(one).values()]),
    ),
  );
  if (done.length === ones.length) return;
  const known = new Set(done.map((row) => `${numberOf(row, "tree")}/${numberOf(row, "number")}`));
  for (const { tree, patch } of ones) {
    if (!known.has(`${tree.key}/${patch.number}`)) throw patchedRunUnknown(tree.id, patch.number);
  }
}

export async function recordPosts(
  ask: Ask,
  trees: readonly { readonly tree: TreeId; readonly posts: readonly PostRecord[] }[],
): Promise<void> {
  const posts = new Map<string, { readonly tree: TreeId; readonly post: PostRecord }>();
  for (const { tree, posts: taken } of trees) {
    for (const post of taken) {
      const name = JSON.stringify([tree, post.id]);
      if ((posts.get(name)?.post.hash ?? post.hash) !== post.hash) throw postReused(tree, post.id);
      posts.set(name, { tree, post });
    }
  }
  if (posts.size === 0) return;
  const rows = [...posts.values()].map(({ tree, post }) => [
    textCell(tree),
    textCell(post.id),
    textCell(post.hash),
    post.seq,
    post.endedSeq,
  ]);
  const done = await ask(RECORD_POSTS, arraysOf(POST_TYPES, rows));
  if (done.length === posts.size) return;
  for (const row of done) posts.delete(JSON.stringify([textOf(row, "tree"), textOf(row, "id")]));
  for (const { tree, post } of posts.values()) throw postReused(tree, post.id);
}

export async function endPosts(
  ask: Ask,
  ended: readonly { readonly tree: TreeId; readonly id: PostId; readonly seq: number }[],
): Promise<void> {
  if (ended.length === 0) return;
  const rows = ended.map(({ tree, id, seq }) => [textCell(tree), textCell(id), seq]);
  await ask(END_POSTS, arraysOf(ENDED_TYPES, rows));
}

export async function replaceProjections(
  ask: Ask,
  tree: TreeKey,
  runs: readonly RunRecord[],
  posts: readonly PostRecord[],
): Promise<void> {
  await ask({ name: "errand-forget-runs", text: "delete from errand.runs where tree = $1" }, [tree.key]);
  const forget = "delete from errand.posts where tree = $1 and seq is not null";
  await ask({ name: "errand-forget-posts", text: forget }, [textCell(tree.id)]);
  await patchRuns(ask, [{ ...tree, runs }]);
  await recordPosts(ask, [{ tree: tree.id, posts }]);
}
