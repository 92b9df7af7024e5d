/**
 * Writing the projections: runs, and posts that were taken. Statements for a transaction of the caller, and the reasons
 * why the server refused one.
 *
 * Invariants:
 *  1. A patch writes the columns that it has and no other. Patches of the same columns share a statement.
 *  2. Mail becomes a post in the same row: it keeps its arrival, gets a sequence and loses its payload.
 */

import type { PostRecord, TreeCommit } from "../../contracts/store.ts";
import type { TreeId } from "../../core/values/ids.ts";
import type { RunPatch, RunRecord } from "../../core/journal/journal.ts";
import { numberOf } from "../cells.ts";
import { patchedRunUnknown, postReused } from "../refusals.ts";
import { patchIsWhole, RUN_COLUMNS, type RunColumn } from "../run-columns.ts";
import { records, textCell, textOf } from "./cells.ts";
import type { Ask, Asked, Statement } from "./database.ts";
import { mergePatches } from "./merge-parts.ts";
import { allOrRefused, askedOf, type ColumnTypes, given, insertOf, insertOfTree } from "./table-write.ts";

interface TreeRuns {
  readonly tree: TreeId;
  readonly runs: readonly RunPatch[];
}
interface TreePosts {
  readonly tree: TreeId;
  readonly posts: readonly PostRecord[];
}

/** A number of any size is sent as bigint; the server converts it to the column's type. */
function typeOf({ stored }: RunColumn): string {
  if (stored === "id" || stored === "text") return "text";
  return stored === "flag" ? "boolean" : "bigint";
}

const RUN_TYPES: ColumnTypes = {
  tree: "text",
  ...Object.fromEntries(RUN_COLUMNS.map((column) => [column.name, typeOf(column)])),
};
const RUN_NAMES = Object.keys(RUN_TYPES);
const WHOLE_RUNS = insertOfTree(
  "whole-runs",
  "errand.runs",
  RUN_TYPES,
  `on conflict (tree, number) do update set ${RUN_NAMES.slice(2)
    .map((name) => `${name} = excluded.${name}`)
    .join(", ")}`,
);

const POST_TYPES: ColumnTypes = { tree: "text", id: "text", hash: "text", seq: "bigint", ended_seq: "bigint" };
const RECORD_POSTS: Statement = {
  name: "errand-record-posts",
  text: allOrRefused(
    insertOf(
      "",
      "errand.posts",
      POST_TYPES,
      `on conflict (tree, id) do update set payload = null, seq = excluded.seq, ended_seq = excluded.ended_seq
       where posts.hash = excluded.hash`,
    ).text,
    "posts",
  ),
};
const ENDED_TYPES: ColumnTypes = { tree: "text", id: "text", seq: "bigint" };
const END_POSTS: Statement = {
  name: "errand-end-posts",
  text: `update errand.posts p set ended_seq = given.seq from ${given(ENDED_TYPES)}
         where p.tree = given.tree and p.id = given.id and p.seq is not null`,
};

const KNOWN_RUNS: Statement = {
  name: "errand-known-runs",
  text: `select t.id, r.number from errand.runs r join errand.trees t on t.key = r.tree where t.id = any ($1::text[])`,
};
const KNOWN_POSTS: Statement = {
  name: "errand-known-posts",
  text: "select tree, id, hash from errand.posts where tree = any ($1::text[])",
};

/** Statements for the runs that a commit creates and changes. */
export function patchRuns(trees: readonly TreeRuns[]): readonly Asked[] {
  const patches = trees.flatMap(({ tree, runs }) =>
    mergePatches(runs).map((patch) => [{ name: "tree", cell: textCell(tree) }, ...records.runCells(patch)]),
  );
  const alike = Map.groupBy(patches, (cells) => cells.map(({ name }) => name).join());
  return [...alike.values()].flatMap((same) => {
    const names = same[0]?.map(({ name }) => name) ?? [];
    const rows = same.map((cells) => cells.map(({ cell }) => cell));
    const whole = names.length === RUN_NAMES.length;
    return whole ? askedOf(WHOLE_RUNS, RUN_TYPES, rows) : askedOf(patchOf(names), typesOf(names), rows);
  });
}

function typesOf(names: readonly string[]): ColumnTypes {
  return Object.fromEntries(names.map((name) => [name, RUN_TYPES[name] ?? "text"]));
}

function patchOf(names: readonly string[]): Statement {
  const changed = names.slice(2).map((name) => `${name} = given.${name}`);
  const change = `update errand.runs r set ${changed.length === 0 ? "number = given.number" : changed.join(", ")}
    from ${given(typesOf(names))} join errand.trees t on t.id = given.tree
    where r.tree = t.key and r.number = given.number`;
  // PostgreSQL cuts the name of a statement at 63 bytes, so the columns are in it as bits.
  const bits = RUN_NAMES.map((name) => (names.includes(name) ? "1" : "0")).join("");
  return { name: `errand-patch-${Number.parseInt(bits, 2).toString(36)}`, text: allOrRefused(change, "runs") };
}

/** Throws for the run that a refused patch did not find. */
export async function explainUnknownRun(ask: Ask, trees: readonly TreeRuns[]): Promise<void> {
  const rows = await ask(KNOWN_RUNS, [trees.map(({ tree }) => textCell(tree))]);
  const known = new Set(rows.map((row) => `${textOf(row, "id")}/${numberOf(row, "number")}`));
  for (const { tree, runs } of trees) {
    for (const patch of mergePatches(runs)) {
      if (!patchIsWhole(patch) && !known.has(`${tree}/${patch.number}`)) throw patchedRunUnknown(tree, patch.number);
    }
  }
}

export function recordPosts(trees: readonly TreePosts[]): readonly Asked[] {
  const posts = new Map<string, { readonly tree: TreeId; readonly post: PostRecord }>();
  for (const { tree, posts: taken } of trees) {
    for (const post of taken) {
      const name = JSON.stringify([tree, post.id]);
      if ((posts.get(name)?.post.hash ?? post.hash) !== post.hash) throw postReused(tree, post.id);
      posts.set(name, { tree, post });
    }
  }
  const rows = [...posts.values()].map(({ tree, post }) => [
    textCell(tree),
    textCell(post.id),
    textCell(post.hash),
    post.seq,
    post.endedSeq,
  ]);
  return askedOf(RECORD_POSTS, POST_TYPES, rows);
}

/** Throws for the post that is known with another hash. */
export async function explainReusedPost(ask: Ask, trees: readonly TreePosts[]): Promise<void> {
  const rows = await ask(KNOWN_POSTS, [trees.map(({ tree }) => textCell(tree))]);
  const known = new Map(rows.map((row) => [JSON.stringify([textOf(row, "tree"), textOf(row, "id")]), row]));
  for (const { tree, posts } of trees) {
    for (const { id, hash } of posts) {
      const row = known.get(JSON.stringify([tree, id]));
      if (row !== undefined && textOf(row, "hash") !== hash) throw postReused(tree, id);
    }
  }
}

export function endPosts(trees: readonly Pick<TreeCommit, "tree" | "postsEnded">[]): readonly Asked[] {
  const rows = trees.flatMap(({ tree, postsEnded }) =>
    postsEnded.map(({ id, seq }) => [textCell(tree), textCell(id), seq]),
  );
  return askedOf(END_POSTS, ENDED_TYPES, rows);
}

/** In a transaction that has locked the tree's row. */
export async function replaceProjections(
  ask: Ask,
  key: number,
  tree: TreeId,
  runs: readonly RunRecord[],
  posts: readonly PostRecord[],
): Promise<void> {
  await ask({ name: "errand-forget-runs", text: "delete from errand.runs where tree = $1" }, [key]);
  const forget = "delete from errand.posts where tree = $1 and seq is not null";
  await ask({ name: "errand-forget-posts", text: forget }, [textCell(tree)]);
  for (const { statement, values } of [...patchRuns([{ tree, runs }]), ...recordPosts([{ tree, posts }])]) {
    await ask(statement, values);
  }
}
