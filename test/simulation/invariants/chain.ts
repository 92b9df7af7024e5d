/** I21: the journal has no gap, its hashes form a chain, and every body matches the hash in its head. */

import { hash } from "node:crypto";
import type { JournalRow } from "../../../src/core/journal/journal.ts";
import type { RowHead } from "../../../src/core/journal/row.ts";
import { demand } from "./violation.ts";

/** A cache of the newest hashes, because several checks hash the same row one after the other. */
const newest: { text: string; hash: string }[] = [];
const KEPT = 4;

export function sha256(text: string): string {
  for (const known of newest) if (known.text === text) return known.hash;
  const known = { text, hash: hash("sha256", text, "base64url") };
  newest.unshift(known);
  newest.length = Math.min(newest.length, KEPT);
  return known.hash;
}

/** Checks a row, with its parsed head, against the row before it. */
export function checkChain(before: JournalRow | undefined, row: JournalRow, head: RowHead): void {
  const expected = (before?.seq ?? 0) + 1;
  demand("I21", row.seq === expected, () => `row ${row.seq} follows row ${expected - 1}`);
  demand("I21", row.hash === sha256((before?.hash ?? "") + row.head), () => `the hash of row ${row.seq} is wrong`);
  const promised = head.body ?? null;
  const found = row.body === null ? null : sha256(row.body);
  demand("I21", promised === found, () => `the body of row ${row.seq} is not the one its head promises`);
}
