/**
 * What a run hands to its parent besides its words: artifacts and data. Everything together is bounded where it enters the parent's
 * context, and whole where it is read by handle (rules D7, D14, F5).
 *
 * Invariants:
 *  1. What is kept (words, artifacts and data together) takes at most the given number of bytes.
 *  2. Data are kept whole or left out: cut JSON would no longer fit its schema.
 *  3. `truncated` tells of the text that `read_result` reads.
 */

import type { Sha256 } from "../journal.ts";
import { type Json, jsonObjectIs } from "../json.ts";
import { dataGiven } from "../runs/report-data.ts";
import { cutToBytes, utf8Length } from "../text/index.ts";

export interface Artifact {
  readonly kind: string;
  readonly value: string;
}

export interface ReportTexts {
  readonly text: string;
  readonly artifacts: readonly Artifact[];
  readonly data: Json | undefined;
}

export interface Truncated {
  readonly original_bytes: number;
  readonly kept_bytes: number;
  readonly sha256: string;
}

/** A report as the child sent it. Data without a schema are an artifact like any other. */
export function reportTexts(args: { readonly [name: string]: Json }, typed: boolean): ReportTexts {
  const { text, artifacts } = args;
  const data = dataGiven(args);
  const listed = (Array.isArray(artifacts) ? (artifacts as readonly Json[]) : []).map(artifactOf);
  const loose = data === undefined || typed ? [] : [{ kind: "json", value: JSON.stringify(data) }];
  return {
    text: typeof text === "string" ? text : "",
    artifacts: [...listed, ...loose],
    data: typed ? data : undefined,
  };
}

/** Journals of earlier revisions hold values of any type. */
function artifactOf(given: Json): Artifact {
  const { kind, value } = jsonObjectIs(given) ? given : {};
  return {
    kind: typeof kind === "string" ? kind : "json",
    value: typeof value === "string" ? value : JSON.stringify(value ?? null),
  };
}

/** All of it as one text: what `read_result` reads, and what an announcement shows when it fits. */
export function reportWhole({ text, artifacts, data }: ReportTexts): string {
  const parts = text === "" ? [] : [text];
  if (artifacts.length > 0) parts.push(artifactLines(artifacts));
  if (data !== undefined) parts.push(`Data: ${JSON.stringify(data)}`);
  return parts.join("\n\n");
}

function artifactLines(artifacts: readonly Artifact[]): string {
  const lines = artifacts.map(({ kind, value }) =>
    value.includes("\n") ? `- ${kind}:\n${value}` : `- ${kind}: ${value}`,
  );
  return ["Artifacts:", ...lines].join("\n");
}

/** What listing an artifact takes besides its kind and value, in JSON or as a line. */
const ARTIFACT_BYTES = 24;

export interface BoundedReport {
  readonly kept: ReportTexts;
  readonly truncated: Truncated | null;
}

export function reportBounded(report: ReportTexts, maxBytes: number, sha256: Sha256): BoundedReport {
  if (surelyFits(report, maxBytes)) return { kept: report, truncated: null };
  const dataText = report.data === undefined ? "" : JSON.stringify(report.data);
  const dataBytes = utf8Length(dataText);
  const textBytes = utf8Length(report.text);
  const sizes = report.artifacts.map(artifactBytes);
  const listed = sum(sizes);
  if (textBytes + listed + dataBytes <= maxBytes) return { kept: report, truncated: null };
  const data = dataBytes * 2 <= maxBytes ? report.data : undefined;
  const room = data === undefined ? maxBytes : maxBytes - dataBytes;
  // Words come first, but leave half of the room to artifacts that need it.
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

/** Told without measuring: a character of UTF-16 takes at most three bytes. */
function surelyFits({ text, artifacts, data }: ReportTexts, maxBytes: number): boolean {
  return artifacts.length === 0 && data === undefined && text.length * 3 <= maxBytes;
}

function artifactBytes({ kind, value }: Artifact): number {
  return ARTIFACT_BYTES + kind.length + utf8Length(value);
}

/** Small artifacts stay whole; the room that is left is shared evenly among the larger ones. */
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
