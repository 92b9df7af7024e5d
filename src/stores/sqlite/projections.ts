/**
 * Writing the projections: runs, and posts that were taken. Every function here runs inside a transaction of its
 * caller.
 *
 * Invariants:
 *  1. A patch writes the columns that it has and no other, so an index is written only when its column changes.
 *  2. Mail becomes a post in the same row: it keeps its arrival, gets a sequence and loses its payload.
 */

import type { PostRecord } from "../../contracts/store.ts";
import type { PostId, TreeId } from "../../core/values/ids.ts";
import type { RunPatch, RunRecord } from "../../core/journal/journal.ts";
import { patchedRunUnknown, postReused } from "../refusals.ts";
import { patchIsWhole, RUN_COLUMNS } from "../run-columns.ts";
import { hashCell, idCell, records } from "./cells.ts";
import { rowKey, rowsOfTree } from "./schema.ts";
import type { Prepare } from "./connection.ts";

/** A tree by its key, for rows, and its id, for errors. */
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
const NAMES = RUN_COLUMNS.filter(({ field }) => field !== "number").map(({ name }) => name);

const WHOLE_RUN = `
  insert into runs (key, ${NAMES.join(", ")}) values (${rowKey("?", "?")}, ${NAMES.map(() => "?").join(", ")})
  on conflict (key) do update set ${NAMES.map((name) => `${name} = excluded.${name}`).join(", ")}`;

export function prepareProjections(prepare: Prepare): ProjectionWriter {
  const wholeRun = prepare(WHOLE_RUN);
  const post = prepare(`
    insert into posts (tree, id, hash, seq, ended_seq) values (?, ?, ?, ?, ?)
    on conflict (tree, id) do update set payload = null, seq = excluded.seq, ended_seq = excluded.ended_seq
    where hash = excluded.hash`);
  const ended = prepare("update posts set ended_seq = ? where tree = ? and id = ? and seq is not null");
  const deleteRuns = prepare(`delete from runs where ${rowsOfTree("?1", "key")}`);
  const deletePosts = prepare("delete from posts where tree = ? and seq is not null");

  function patchRun(tree: TreeKey, patch: RunPatch): void {
    const changed = records.runCells(patch).filter(({ name }) => name !== "number");
    const cells = changed.map(({ cell }) => cell);
    if (patchIsWhole(patch)) {
      wholeRun().run(tree.key, patch.number, ...cells);
      return;
    }
    if (changed.length === 0) return;
    const set = changed.map(({ name }) => `${name} = ?`).join(", ");
    const update = prepare(`update runs set ${set} where key = ${rowKey("?", "?")}`);
    const { changes } = update().run(...cells, tree.key, patch.number);
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
      deleteRuns().run(tree.key);
      deletePosts().run(idCell(tree.id));
      for (const run of runs) patchRun(tree, run);
      for (const taken of posts) recordPost(tree.id, taken);
    },
  };
}
