/**
 * Owns the matching of lines against what a model looks for.
 *
 * Invariants:
 *  1. A regular expression is run under a watchdog: one that backtracks without end is stopped after MATCH_MS and reported, not
 *     waited for.
 *  2. Plain text is compared without a locale.
 */

import { createWatchdog } from "../watchdog.ts";
import type { Refusal } from "./workspace.ts";

export interface LineMatch {
  readonly index: number;
  /** Where in the line the match begins. */
  readonly column: number;
}

export interface LineMatcher {
  match(lines: readonly string[]): readonly LineMatch[] | "too-hard";
}

export interface LineMatcherOptions {
  readonly regex: boolean;
  readonly caseSensitive: boolean;
}

/** A call that is aborted meanwhile must be over in 100 ms. */
const MATCH_MS = 80;
const PATTERN_LIMIT = 1000;

export function createLineMatcher(query: string, { regex, caseSensitive }: LineMatcherOptions): LineMatcher | Refusal {
  if (!regex) {
    const wanted = caseSensitive ? query : query.toLowerCase();
    return { match: (lines) => collect(lines, (line) => (caseSensitive ? line : line.toLowerCase()).indexOf(wanted)) };
  }
  if (query.length > PATTERN_LIMIT)
    return { refused: `\`query\` is longer than ${PATTERN_LIMIT} characters. Give a shorter pattern.` };
  let pattern: RegExp;
  try {
    pattern = new RegExp(query, caseSensitive ? "" : "i");
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return {
      refused: `\`query\` is not a valid regular expression (${reason}). Mend it, or leave \`regex\` out to search for the text as it is.`,
    };
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
