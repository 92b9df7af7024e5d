/** Ranks files by the words found in them. Files that are equal stay in code unit order. */

import { weightOf } from "./file-kinds.ts";
import { stemOf } from "./keywords.ts";
import { type Hit, type Hits, nameOf } from "./tool-outputs.ts";

export interface RankedFile {
  readonly path: string;
  readonly words: readonly string[];
  /** Lines with more of the words first. */
  readonly hits: readonly Hit[];
}

const MAX_MATCHES = 50;
/** More than any part of a rank. */
const BASE = 100;

/**
 * By, in this order: not a lock file; number of words, including those in its name; kind of file; words in its best
 * line; number of matches. Words in web addresses and inside other words (`server` in `observer`) do not count.
 */
export function rankFiles(found: ReadonlyMap<string, Hits>): readonly RankedFile[] {
  const matches = [...found].flatMap(([word, { lines }]) =>
    lines
      .filter(({ text }) => wordBegins(text.replace(/\b[a-z]+:\/\/\S+/gi, ""), stemOf(word)))
      .map((hit) => ({ word, hit })),
  );
  const ranked = [...Map.groupBy(matches, ({ hit }) => hit.path)].map(([path, inFile]) => {
    const lines = [...Map.groupBy(inFile, ({ hit }) => hit.line).values()]
      .flatMap((onLine) => onLine.slice(0, 1).map(({ hit }) => ({ hit, words: onLine.length })))
      .toSorted(
        (left, right) =>
          right.words - left.words || importing(left.hit) - importing(right.hit) || left.hit.line - right.hit.line,
      );
    const words = [...new Set(inFile.map(({ word }) => word))];
    const inName = [...found.keys()].filter((word) => wordBegins(nameOf(path), stemOf(word)));
    const weight = weightOf(path);
    const rank = [
      Math.min(weight, 1),
      words.length + inName.length,
      weight,
      lines[0]?.words ?? 0,
      Math.min(inFile.length, MAX_MATCHES),
    ].reduce((sum, part) => sum * BASE + part);
    return { rank, file: { path, words, hits: lines.map(({ hit }) => hit) } };
  });
  return ranked
    .toSorted((left, right) => right.rank - left.rank || (left.file.path < right.file.path ? -1 : 1))
    .map(({ file }) => file);
}

/** True if a word of the text, or a part of it in camel case, begins with the stem. */
export function wordBegins(text: string, stem: string): boolean {
  const lower = text.toLowerCase();
  for (let at = lower.indexOf(stem); at >= 0; at = lower.indexOf(stem, at + 1)) {
    const first = text[at] ?? "";
    if (at === 0 || !/\p{L}/u.test(text[at - 1] ?? "") || first !== first.toLowerCase()) return true;
  }
  return false;
}

/** 1 for lines that only import something: they say less than others. */
function importing({ text }: Hit): number {
  return /^(import|from|use|#include|require|export \{)\b/.test(text) ? 1 : 0;
}
