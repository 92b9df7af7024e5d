/**
 * Owns the reading of what `search_text` answers, and the ranking of files by what was found in them.
 *
 * Invariant: the ranking is total and does not depend on the order of the answers: equals stand in code unit order.
 */

import { weightOf } from "./file-kinds.ts";
import { stemOf } from "./keywords.ts";
import { nameOf } from "./listing.ts";

export interface Hit {
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

export interface Hits {
  /** All matching lines, also those that are not shown. */
  readonly total: number;
  readonly files: number;
  readonly lines: readonly Hit[];
  /** Lines of a file beyond those shown. */
  readonly more: ReadonlyMap<string, number>;
}

export interface RankedFile {
  readonly path: string;
  readonly words: readonly string[];
  /** How many lines hold a word, each word counted by itself. */
  readonly matches: number;
  /** Lines that hold more of the words come first. */
  readonly hits: readonly Hit[];
}

export function readHits(output: string): Hits {
  const numbers = /^(\d+) matching lines in (\d+) of/.exec(output);
  const lines: Hit[] = [];
  const more = new Map<string, number>();
  for (const line of output.split("\n").slice(1)) {
    const hit = /^(.+?):(\d+): (.*)$/.exec(line);
    const rest = /^(.+): (\d+) more lines in this file$/.exec(line);
    if (rest !== null) more.set(rest[1] ?? "", Number(rest[2]));
    else if (hit !== null) lines.push({ path: hit[1] ?? "", line: Number(hit[2]), text: hit[3] ?? "" });
  }
  return { total: Number(numbers?.[1] ?? 0), files: Number(numbers?.[2] ?? 0), lines, more };
}

/** Files with more of the words first (not counting web addresses, nor `server` in `observer`), a word in the file's name counting too; then sources before lock files; then more matches. */
export function rankFiles(found: ReadonlyMap<string, Hits>): readonly RankedFile[] {
  const files = new Map<
    string,
    { words: Set<string>; matches: number; hits: Map<number, { hit: Hit; words: number }> }
  >();
  for (const [word, { lines, more }] of found) {
    for (const hit of lines) {
      if (!wordBegins(withoutAddresses(hit.text), stemOf(word))) continue;
      const file = files.get(hit.path) ?? {
        words: new Set<string>(),
        matches: 0,
        hits: new Map<number, { hit: Hit; words: number }>(),
      };
      files.set(hit.path, file);
      if (!file.words.has(word)) file.matches += more.get(hit.path) ?? 0;
      file.words.add(word);
      file.matches++;
      file.hits.set(hit.line, { hit, words: (file.hits.get(hit.line)?.words ?? 0) + 1 });
    }
  }
  const ranked = [...files].map(([path, file]) => {
    const name = nameOf(path);
    const named = [...found.keys()].filter((word) => wordBegins(name, stemOf(word))).length;
    const lock = weightOf(path) === 0 ? 0 : 1;
    const hits = [...file.hits.values()].toSorted(
      (left, right) =>
        right.words - left.words || importing(left.hit) - importing(right.hit) || left.hit.line - right.hit.line,
    );
    return {
      order: [lock, file.words.size + named, weightOf(path), hits[0]?.words ?? 0, Math.min(file.matches, 50)],
      file: { path, words: [...file.words], matches: file.matches, hits: hits.map(({ hit }) => hit) },
    };
  });
  return ranked
    .toSorted((left, right) => {
      for (const [index, value] of left.order.entries()) {
        const difference = (right.order[index] ?? 0) - value;
        if (difference !== 0) return difference;
      }
      return left.file.path < right.file.path ? -1 : 1;
    })
    .map(({ file }) => file);
}

function withoutAddresses(text: string): string {
  return text.replace(/\b[a-z]+:\/\/\S+/gi, "");
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

/** Lines that only bring in another file say less than others. */
function importing(hit: Hit): number {
  return /^(import|from|use|#include|require|export \{)\b/.test(hit.text) ? 1 : 0;
}
