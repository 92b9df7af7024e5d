/**
 * A report as it enters the parent's context, bounded in bytes (rules D7, D14, F5). `read_result` reads the whole.
 *
 * Invariants:
 *  1. Text, artifacts and data together take at most the given number of bytes.
 *  2. Data stay whole or are left out, because cut JSON would not fit its schema.
 *  3. `truncated` describes the text that `read_result` reads.
 */

import type { Sha256 } from "../../journal/journal.ts";
import { type Artifact, type Report, reportWhole } from "../../reports/report.ts";
import { cutToBytes, utf8Length } from "../index.ts";

export interface Truncated {
  readonly original_bytes: number;
  readonly kept_bytes: number;
  readonly sha256: string;
}

/** Bytes for listing an artifact, besides its kind and value. */
const ARTIFACT_BYTES = 24;

export interface BoundedReport {
  readonly kept: Report;
  readonly truncated: Truncated | null;
}

export function reportBounded(report: Report, maxBytes: number, sha256: Sha256): BoundedReport {
  if (surelyFits(report, maxBytes)) return { kept: report, truncated: null };
  const dataText = report.data === undefined ? "" : JSON.stringify(report.data);
  const dataBytes = utf8Length(dataText);
  const textBytes = utf8Length(report.text);
  const sizes = report.artifacts.map(artifactBytes);
  const listed = sum(sizes);
  if (textBytes + listed + dataBytes <= maxBytes) return { kept: report, truncated: null };
  const data = dataBytes * 2 <= maxBytes ? report.data : undefined;
  const room = data === undefined ? maxBytes : maxBytes - dataBytes;
  // The text comes first, but leaves half of the room to artifacts that need it.
  const text = cutToBytes(report.text, Math.max(Math.floor(room / 2), room - listed));
  const artifacts = artifactsCut(report.artifacts, sizes, room - utf8Length(text));
  const kept = { text, artifacts, data };
  const whole = reportWhole(report);
  const keptBytes =
    utf8Length(text) + sum(artifacts.map(({ value }) => utf8Length(value))) + (data === undefined ? 0 : dataBytes);
  return {
    kept,
    truncated: { original_bytes: utf8Length(whole), kept_bytes: keptBytes, sha256: sha256(whole) },
  };
}

/** A quick check without measuring: a UTF-16 unit takes at most three bytes. */
function surelyFits({ text, artifacts, data }: Report, maxBytes: number): boolean {
  return artifacts.length === 0 && data === undefined && text.length * 3 <= maxBytes;
}

function artifactBytes({ kind, value }: Artifact): number {
  return ARTIFACT_BYTES + kind.length + utf8Length(value);
}

/** Small artifacts stay whole. Larger ones share the rest of the room evenly. */
function artifactsCut(artifacts: readonly Artifact[], sizes: readonly number[], room: number): Artifact[] {
  let left = room;
  let open = artifacts.length;
  let share = 0;
  for (const size of sizes.toSorted((a, b) => a - b)) {
    share = Math.floor(left / Math.max(1, open));
    if (size > share) break;
    left -= size;
    open -= 1;
    share = size;
  }
  return artifacts.flatMap(({ kind, value }, index) => {
    if ((sizes[index] ?? 0) <= share) return [{ kind, value }];
    const bytes = share - ARTIFACT_BYTES - kind.length;
    return bytes <= 0 ? [] : [{ kind, value: cutToBytes(value, bytes) }];
  });
}

function sum(sizes: readonly number[]): number {
  let total = 0;
  for (const size of sizes) total += size;
  return total;
}
