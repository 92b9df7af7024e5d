/** Erases the texts of a run whose parent has read its result: the input that records what is left of its rows. */

import type { Store, StoredRun } from "../../contracts/store.ts";
import type { Effect } from "../../core/effect.ts";
import type { JournalRow, Sha256 } from "../../core/journal/journal.ts";
import { erasedBodies } from "../../core/runs/erasure.ts";
import type { Submission } from "../commits/tree-commit.ts";
import type { LoadedTree } from "../trees/tree-cache.ts";

export async function eraseTexts(
  store: Store,
  sha256: Sha256,
  { id: tree }: LoadedTree,
  effect: Extract<Effect, { type: "erase-texts" }>,
): Promise<Submission> {
  const runs = await store.runs({ tree, limit: Number.MAX_SAFE_INTEGER });
  const run = runs.find(({ number }) => number === effect.run);
  const erased = run === undefined ? [] : erasedBodies(run.number, await rowsOf(store, run));
  const hashes = erased.map(({ seq, body }) => ({ seq, hash: sha256(body) }));
  return { tree, input: { type: "texts-erased", effect: effect.key, rows: hashes }, texts: [], erased };
}

/** The rows of the tree between the run's creation and its end. */
async function rowsOf(store: Store, { tree, createdSeq, endedSeq }: StoredRun): Promise<readonly JournalRow[]> {
  return endedSeq === null ? [] : store.rows(tree, createdSeq, endedSeq - createdSeq + 1);
}
