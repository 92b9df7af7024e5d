/** Compares a tree in two stores: its record, every row byte for byte, and everything else that belongs to it. */

import { isDeepStrictEqual } from "node:util";
import type { Store, TreeRecord } from "../../contracts/store.ts";
import { ErrandError } from "../../errors.ts";
import { runsOf, type Way } from "./carry-tree.ts";

const ROWS_AT_A_TIME = 500;

/** Throws with the name of the first thing that differs. The epoch is each store's own, and the status is set last. */
export async function compareTree({ source, target }: Way, tree: TreeRecord): Promise<void> {
  const differ = (what: string): ErrandError =>
    new ErrandError("store-differs", `Tree ${tree.id} is not the same in the database: ${what}.`, {
      remedy: "The file is unchanged. Move it to an empty database; if it differs there too, report it.",
      details: { tree: tree.id },
    });
  const arrived = await target.tree(tree.id);
  if (arrived === null) throw differ("it is not there");
  const same = { epoch: 0, status: tree.status };
  if (!isDeepStrictEqual({ ...tree, ...same }, { ...arrived, ...same })) throw differ("its record");
  for (let from = 1; ; from += ROWS_AT_A_TIME) {
    const [ours, theirs] = [
      await source.rows(tree.id, from, ROWS_AT_A_TIME),
      await target.rows(tree.id, from, ROWS_AT_A_TIME),
    ];
    if (!isDeepStrictEqual(ours, theirs)) throw differ(`a row after row ${from - 1}`);
    if (ours.length < ROWS_AT_A_TIME) break;
  }
  const belongings: Readonly<Record<string, (store: Store) => Promise<unknown>>> = {
    "its definitions": (store) => store.blobs(tree.id),
    "its snapshot": (store) => store.snapshot(tree.id),
    "its runs": (store) => runsOf(store, tree),
    "the posts it took": (store) => store.posts(tree.id),
    "its messages to the user": (store) => store.pendingOutbox(tree.id),
  };
  for (const [what, read] of Object.entries(belongings)) {
    if (!isDeepStrictEqual(await read(source), await read(target))) throw differ(what);
  }
}
