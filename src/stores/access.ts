/** The methods of a store by who may use them. */

import type { Store } from "../contracts/store.ts";

/** Methods that only read, for every process. */
export type StoreReads = Pick<
  Store,
  | "tree"
  | "trees"
  | "unfinished"
  | "due"
  | "nextWake"
  | "rows"
  | "blob"
  | "blobs"
  | "snapshot"
  | "run"
  | "runOfAgent"
  | "runs"
  | "post"
  | "posts"
  | "pendingMail"
  | "pendingOutbox"
  | "outboxTrees"
  | "format"
  | "anchor"
>;

/** Methods that write, for processes that run trees. Every process may put mail besides. */
export type StoreWrites = Pick<
  Store,
  | "commit"
  | "claim"
  | "markFailure"
  | "markUnplaced"
  | "release"
  | "replaceProjections"
  | "expire"
  | "setAnchor"
  | "raiseFormat"
>;

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
