/** What a failed commit means for its inputs, and for the process. */

import { ErrandError, passesByItself } from "../../errors.ts";

/**
 * `again`: the same inputs can be committed later. `refused`: the store works, but cannot hold something of this
 * commit. `stop`: it is unknown what the store holds, so no input may be taken any more.
 */
export type CommitFailure = "again" | "refused" | "stop";

/** New work records a post or creates a tree; the result of an effect does neither. */
interface SubmittedWork {
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

/** True if the store does not work for the moment. A conflict with another writer is something else. */
export function storeUnavailable(error: unknown): boolean {
  return passesByItself(error) && !(error instanceof ErrandError && error.code === "commit-conflict");
}

/**
 * True if an input is to be tried again. New work is refused while the disk is full or the store stays locked. Results
 * wait for the store as long as it takes, except after a few conflicts: then another writer has the tree.
 */
export function worthAnother(submission: SubmittedWork, failures: number, error: ErrandError): boolean {
  if (submission.create !== undefined) return false;
  if (waitsLong(error)) return submission.post === undefined;
  if (error.code === "commit-conflict" || submission.post !== undefined) return failures < MAX_CONFLICTS;
  return true;
}

/** The disk is full, or another program holds a lock: an immediate retry would fail too. */
function waitsLong(error: ErrandError): boolean {
  return error.code === "store-full" || error.code === "store-busy";
}

/** Milliseconds until the next try, after this many failures in a row. */
export function retryDelay(error: ErrandError, failures: number): number {
  if (waitsLong(error)) return FULL_RETRY_MS;
  return failures < 2 ? 0 : Math.min(LONGEST_RETRY_MS, SHORTEST_RETRY_MS * 2 ** (failures - 2));
}

export function storeError(cause: unknown): ErrandError {
  return cause instanceof ErrandError ? cause : new ErrandError("store-failed", "The store failed.", { cause });
}
