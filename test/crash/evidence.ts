/**
 * What the world outside saw of a store's life: acknowledgements on the program's output, the tool's lines, the
 * channel's lines.
 */

import { appendFileSync, existsSync, readFileSync } from "node:fs";

export interface Delivered {
  readonly id: string;
  readonly text: string;
  readonly repeated: boolean;
}

export interface Evidence {
  /** Ids of trees that were acknowledged, by the number of their conversation. */
  readonly opened: ReadonlyMap<string, number>;
  readonly posted: readonly { readonly id: string; readonly tree: string }[];
  readonly replied: readonly { readonly id: string; readonly tree: string; readonly text: string }[];
  /** Tokens of unsafe calls, one for each time that the tool did its work. */
  readonly struck: readonly string[];
  readonly delivered: readonly Delivered[];
  /** Rows that a subscriber was told of, with their facts as JSON. */
  readonly seen: readonly { readonly tree: string; readonly seq: number; readonly facts: string }[];
}

export interface EvidenceFiles {
  readonly record: string;
  readonly toolFile: string;
  readonly channelFile: string;
}

export interface RecordLine {
  readonly [name: string]: unknown;
}

/** The whole lines of a file: a process that was killed may have left half of one. */
export function linesOf(path: string): readonly string[] {
  if (!existsSync(path)) return [];
  return readFileSync(path, "utf8")
    .split("\n")
    .slice(0, -1)
    .filter((line) => line !== "" && !line.endsWith(TORN));
}

/** Stands at the end of a line of which only half was written. */
const TORN = "\u0000";

/**
 * To be called before another process writes to the file: what was killed in the middle of a line has acknowledged
 * nothing with it.
 */
export function markTorn(path: string): void {
  if (!existsSync(path)) return;
  const text = readFileSync(path, "utf8");
  if (text !== "" && !text.endsWith("\n")) appendFileSync(path, `${TORN}\n`);
}

export function recordOf(path: string): readonly RecordLine[] {
  return linesOf(path).map((line) => JSON.parse(line) as RecordLine);
}

export function evidenceOf(files: EvidenceFiles): Evidence {
  return evidenceFrom(
    recordOf(files.record),
    linesOf(files.toolFile),
    linesOf(files.channelFile).map((line) => JSON.parse(line) as Delivered),
  );
}

function evidenceFrom(
  record: readonly RecordLine[],
  struck: readonly string[],
  delivered: readonly Delivered[],
): Evidence {
  const opened = new Map<string, number>();
  for (const line of record) if ("opened" in line) opened.set(text(line, "opened"), Number(line["conversation"]));
  return {
    opened,
    posted: record
      .filter((line) => "posted" in line)
      .map((line) => ({ id: text(line, "posted"), tree: text(line, "tree") })),
    replied: record
      .filter((line) => "replied" in line)
      .map((line) => ({ id: text(line, "replied"), tree: text(line, "tree"), text: text(line, "text") })),
    struck,
    delivered,
    seen: record
      .filter((line) => "seen" in line)
      .map((line) => ({ tree: text(line, "tree"), seq: Number(line["seen"]), facts: text(line, "facts") })),
  };
}

export function text(line: RecordLine, name: string): string {
  const value = line[name];
  return typeof value === "string" ? value : "";
}
