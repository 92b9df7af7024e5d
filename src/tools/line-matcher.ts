/**
 * Finds the lines that match a text or a regular expression.
 *
 * Invariants:
 *  1. A regular expression runs under a watchdog. One that backtracks without end is stopped after MATCH_MS and
 *     reported.
 *  2. Plain text is compared without a locale.
 */

import { errorText } from "../errors.ts";
import { createWatchdog } from "../watchdog.ts";
import type { Refusal } from "./workspace.ts";

export interface LineMatch {
  readonly index: number;
  /** Where the match begins in the line. */
  readonly column: number;
}

export interface LineMatcher {
  match(lines: readonly string[]): readonly LineMatch[] | "too-hard";
}

export interface LineMatcherOptions {
  readonly regex: boolean;
  readonly caseSensitive: boolean;
}

/** An aborted call must end within 100 ms. */
const MATCH_MS = 80;
const PATTERN_LENGTH = 1000;

export function createLineMatcher(query: string, { regex, caseSensitive }: LineMatcherOptions): LineMatcher | Refusal {
  if (!regex) {
    const wanted = caseSensitive ? query : query.toLowerCase();
    return { match: (lines) => collect(lines, (line) => (caseSensitive ? line : line.toLowerCase()).indexOf(wanted)) };
  }
  if (query.length > PATTERN_LENGTH)
    return { refused: `\`query\` is longer than ${PATTERN_LENGTH} characters. Give a shorter pattern.` };
  let pattern: RegExp;
  try {
    pattern = new RegExp(query, caseSensitive ? "" : "i");
  } catch (error) {
    const remedy = "Correct it, or leave `regex` out to search for plain text";
    return { refused: `\`query\` is not a valid regular expression (${errorText(error)}). ${remedy}.` };
  }
  const watchdog = createWatchdog(MATCH_MS);
  return {
    match: (lines) => watchdog(() => collect(lines, (line) => line.search(pattern)))?.result ?? "too-hard",
  };
}

function collect(lines: readonly string[], columnOf: (line: string) => number): readonly LineMatch[] {
  const found: LineMatch[] = [];
  for (const [index, line] of lines.entries()) {
    const column = columnOf(line);
    if (column >= 0) found.push({ index, column });
  }
  return found;
}
