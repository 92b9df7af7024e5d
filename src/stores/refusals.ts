/** The errors of refused calls, the same for every store. */

import type { StoreWrites } from "../contracts/store.ts";
import type { RunNumber, PostId, TreeId } from "../core/values/ids.ts";
import { errorText, ErrandError } from "../errors.ts";

export function treeConflict(tree: TreeId, why: string): ErrandError {
  return new ErrandError("commit-conflict", `The commit for tree ${tree} was refused: ${why}.`, {
    remedy: "Load the tree again and decide again.",
    details: { tree },
  });
}

export function storeClosed(description: string): ErrandError {
  return new ErrandError("store-closed", `${description} is closed.`, {
    remedy: "Open it again, or close it only after the last use.",
  });
}

export function postReused(tree: TreeId, id: PostId): ErrandError {
  return new ErrandError("id-reused", `The post ${id} of tree ${tree} is already known with other content.`, {
    remedy: "Give other content another id.",
    details: { tree, id },
  });
}

export function treeUnknown(tree: TreeId): ErrandError {
  return new ErrandError("tree-unknown", `There is no tree ${tree} in the store.`, {
    remedy: "List the trees to see which there are.",
    details: { tree },
  });
}

/** A patch that has only some columns found no run to change. */
export function patchedRunUnknown(tree: TreeId, run: RunNumber): ErrandError {
  return new ErrandError("run-unknown", `Tree ${tree} has no run ${run} to change.`, {
    remedy: "Give the first patch of a run all columns.",
    details: { tree, run },
  });
}

/** A value of the commit cannot be stored. Nothing of the commit was stored, and the store still works. */
export function rowRefused(description: string, cause: unknown): ErrandError {
  return new ErrandError("row-refused", `${description} cannot store a row (${errorText(cause)}).`, {
    remedy: "Its tree is tried alone, and quarantined if that fails too; all other trees continue.",
    cause,
  });
}

/** The writes of a store that this process may only read. */
export function refusedWrites(refuse: () => Promise<never>): StoreWrites {
  return {
    commit: refuse,
    claim: refuse,
    markFailure: refuse,
    markUnplaced: refuse,
    release: refuse,
    replaceProjections: refuse,
    expire: refuse,
    setAnchor: refuse,
    raiseFormat: refuse,
  };
}
