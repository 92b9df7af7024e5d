/** Ids made from a key of the caller's, so that the same key names the same work in every process. */

import type { Sha256 } from "../../core/journal/journal.ts";
import { ErrandError } from "../../errors.ts";

const LONGEST_KEY = 1_000;

/** A UUID (version 8) of the key. `of` keeps ids for different things apart. */
export function keyedId(of: "tree" | "message", key: string, sha256: Sha256): string {
  if (key === "" || key.length > LONGEST_KEY)
    throw new ErrandError("usage", `A key has 1 to ${LONGEST_KEY} characters; this one has ${key.length}.`);
  const hex = Buffer.from(sha256(`errand ${of} ${key.toWellFormed()}`), "base64url").toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
