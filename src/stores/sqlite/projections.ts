/**
 * Writing the projections: runs, and posts that were taken. Every function here runs inside a transaction of its caller.
 *
 * Invariants:
 *  1. A patch touches the columns that it holds and no other, so an index is written only when its column changes.
 *  2. Mail becomes a post in place: it keeps its arrival, gets its sequence and loses its payload.
 *  3. A statement is prepared once: patches of the same columns share one.
 */

import type { PostRecord } from "../../contracts/store.ts";
import type { PostId, TreeId } from "../../core/values/ids.ts";
import type { RunPatch, RunRecord } from "../../core/journal/journal.ts";
import { patchedRunUnknown, postReused } from "../refusals.ts";
import { patchIsWhole } from "../run-patches.ts";
import { type Cell, columns, hashCell, idCell } from "./cells.ts";
import { placeKey, placesOf } from "./place-keys.ts";
import type { Prepare, Statement } from "./statements.ts";

/** A tree by both of its names: the key that stands in rows, and the id that errors speak of. */
export interface TreeKey {
  readonly key: number;
  readonly id: TreeId;
}

export interface ProjectionWriter {
  patchRun(tree: TreeKey, patch: RunPatch): void;
  recordPost(tree: TreeId, post: PostRecord): void;
  endPost(tree: TreeId, id: PostId, seq: number): void;
  replace(tree: TreeKey, runs: readonly RunRecord[], posts: readonly PostRecord[]): void;
}

/** The number of a run is part of its key. */
const runColumns = columns.runColumns.filter(({ name }) => name !== "number");
const columnsByField: ReadonlyMap<string, (typeof runColumns)[number]> = new Map(
  runColumns.map((column) => [column.field, column]),
);

const WHOLE_RUN = `
  insert into runs (key, ${runColumns.map(({ name }) => name).join(", ")})
  values (${placeKey("?", "?")}, ${runColumns.map(() => "?").join(", ")})
  on conflict (key) do update set ${runColumns.map(({ name }) => `${name} = excluded.${name}`).join(", ")}`;

/** How patches of the same fields are written. */
interface RunUpdate {
  readonly fields: readonly string[];
  readonly columns: typeof runColumns;
  readonly statement: Statement;
}

function patches({ fields }: RunUpdate, patch: RunPatch): boolean {
  let place = 0;
  for (const field in patch) {
    if (field !== fields[place]) return false;
    place += 1;
  }
  return place === fields.length;
}

export function prepareProjections(prepare: Prepare): ProjectionWriter {
  const wholeRun = prepare(WHOLE_RUN);
  const updates: RunUpdate[] = [];
  const post = prepare(`
    insert into posts (tree, id, hash, seq, ended_seq) values (?, ?, ?, ?, ?)
    on conflict (tree, id) do update set payload = null, seq = excluded.seq, ended_seq = excluded.ended_seq
    where hash = excluded.hash`);
  const ended = prepare("update posts set ended_seq = ? where tree = ? and id = ? and seq is not null");
  const forgetRuns = prepare(`delete from runs where ${placesOf("?1", "key")}`);
  const forgetPosts = prepare("delete from posts where tree = ? and seq is not null");

  /** There are some ten kinds of patches, and two or three of them are nearly all. */
  function updateFor(patch: RunPatch): RunUpdate {
    const known = updates.find((update) => patches(update, patch));
    if (known !== undefined) return known;
    const fields = Object.keys(patch);
    const changed = fields.flatMap((field) => columnsByField.get(field) ?? []);
    const set = changed.map(({ name }) => `${name} = ?`).join(", ");
    const statement = prepare(`update runs set ${set} where key = ${placeKey("?", "?")}`);
    const update = { fields, columns: changed, statement };
    updates.push(update);
    return update;
  }

  function patchRun(tree: TreeKey, patch: RunPatch): void {
    const cells: Cell[] = [];
    if (patchIsWhole(patch)) {
      for (const column of runColumns) cells.push(column.cell(patch) ?? null);
      wholeRun().run(tree.key, patch.number, ...cells);
      return;
    }
    const update = updateFor(patch);
    if (update.columns.length === 0) return;
    for (const column of update.columns) cells.push(column.cell(patch) ?? null);
    const { changes } = update.statement().run(...cells, tree.key, patch.number);
    if (changes === 0) throw patchedRunUnknown(tree.id, patch.number);
  }

  function recordPost(tree: TreeId, { id, hash, seq, endedSeq }: PostRecord): void {
    const { changes } = post().run(idCell(tree), idCell(id), hashCell(hash), seq, endedSeq);
    if (changes === 0) throw postReused(tree, id);
  }

  return {
    patchRun,
    recordPost,
    endPost(tree, id, seq) {
      ended().run(seq, idCell(tree), idCell(id));
    },
    replace(tree, runs, posts) {
      forgetRuns().run(tree.key);
      forgetPosts().run(idCell(tree.id));
      for (const run of runs) patchRun(tree, run);
      for (const taken of posts) recordPost(tree.id, taken);
    },
  };
}
