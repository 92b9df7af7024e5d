/** What a failed commit means for the inputs that it held, and for the process. */

import { errorText, ErrandError, passesByItself } from "../../errors.ts";

/**
 * `again`: the same inputs can be committed later. `refused`: the store works, but cannot hold something of this commit.
 * `stop`: nobody knows what the store holds; nothing more may be taken.
 */
export type CommitFailure = "again" | "refused" | "stop";

/** What tells new work from the result of an effect: it records a post or makes a tree. */
interface Asked {
  readonly post?: unknown;
  readonly create?: unknown;
}

const MAX_CONFLICTS = 3;
const FULL_RETRY_MS = 1_000;
const SHORTEST_RETRY_MS = 50;
const LONGEST_RETRY_MS = 1_000;

const STOP: ReadonlySet<string> = new Set([
  "store-failed",
  "store-corrupt",
  "store-closed",
  "store-owned",
  "store-moved",
  "store-read-only",
  "store-refused",
  "store-unreadable",
  "store-too-new",
]);

export function commitFailure(error: ErrandError): CommitFailure {
  if (passesByItself(error)) return "again";
  return STOP.has(error.code) ? "stop" : "refused";
}

/** True if the store can be expected to work again; a conflict is with another writer. */
export function transient(error: unknown): boolean {
  return passesByItself(error) && !(error instanceof ErrandError && error.code === "commit-conflict");
}

/**
 * New work is refused while the disk is full or the store stays locked. Results of what is under way wait for the store as
 * long as it takes; only a conflict with another writer ends that after a few tries, because that writer has the tree.
 */
export function worthAnother(submission: Asked, failures: number, error: ErrandError): boolean {
  if (submission.create !== undefined) return false;
  if (waitsLong(error)) return submission.post === undefined;
  if (error.code === "commit-conflict" || submission.post !== undefined) return failures < MAX_CONFLICTS;
  return true;
}

/** The disk is full, or another program holds a lock: a try at once would meet the same. */
function waitsLong(error: ErrandError): boolean {
  return error.code === "store-full" || error.code === "store-busy";
}

/** How long to wait before the next try, after this many failures in a row. */
export function retryDelay(error: ErrandError, failures: number): number {
  if (waitsLong(error)) return FULL_RETRY_MS;
  return failures < 2 ? 0 : Math.min(LONGEST_RETRY_MS, SHORTEST_RETRY_MS * 2 ** (failures - 2));
}

export function storeError(cause: unknown): ErrandError {
  return cause instanceof ErrandError ? cause : new ErrandError("store-failed", "The store failed.", { cause });
}

/** The error of a tree that was set aside after its last failure. */
export function quarantined(tree: string, failures: number, cause: unknown): ErrandError {
  const why = errorText(cause).replace(/\.$/, "");
  return new ErrandError("tree-quarantined", `Tree ${tree} is quarantined: it failed ${failures} times (${why}).`, {
    remedy: `Look at its journal, then release it with: errand resume ${tree}`,
    cause,
    details: { tree },
  });
}
