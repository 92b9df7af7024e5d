/** What a failed commit means for the inputs that it held. */

import { ErrandError } from "../../errors.ts";
import type { Submission } from "./tree-commit.ts";

const MAX_FAILURES = 3;
/** Failures after which the same inputs can be taken again. */
const RETRYABLE: ReadonlySet<string> = new Set(["store-full", "commit-conflict", "commit-unknown"]);

export function retryable(error: ErrandError): boolean {
  return RETRYABLE.has(error.code);
}

/** New work is refused while the disk is full; results of what is under way wait for room, however long. */
export function worthAnother(submission: Submission, failures: number, error: ErrandError): boolean {
  if (!retryable(error) || submission.create !== undefined) return false;
  if (error.code === "store-full") return submission.post === undefined;
  return failures < MAX_FAILURES;
}

export function storeError(cause: unknown): ErrandError {
  return cause instanceof ErrandError ? cause : new ErrandError("store-failed", "The store failed.", { cause });
}
