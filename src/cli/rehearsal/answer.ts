/**
 * Owns the answer the user reads, made of what the parts found.
 *
 * Invariants:
 *  1. About forty lines of findings at most, shared fairly: a part that needs less leaves room to the others.
 *  2. No line twice, no ids, no word of how the work was divided; and it says what it is.
 */

import type { AnnouncedPart } from "./announcement.ts";
import { count, HONESTY, shorten } from "./wording.ts";

const LINES_LIMIT = 40;
const LINE_LIMIT = 180;
const BRIEF_LIMIT = 79;
const BRIEF_HONESTY = "(offline rehearsal: it looked for keywords, and understands no language)";

/** Makes the answer to what was asked, which is null where nothing was, from what the parts found. */
export type ComposeAnswer = (asked: string | null, parts: readonly AnnouncedPart[]) => string;

/** One line for each part. */
export function composeBriefly(_asked: string | null, parts: readonly AnnouncedPart[]): string {
  const lines = parts.map(({ name, findings, trouble }) => {
    const [first = "nothing was found"] = findings
      .split("\n")
      .flatMap((line) => line.replace(/^-\s+/, "").trim() || []);
    const said = trouble === null ? first : `no answer: ${trouble}`;
    return shorten(name === null ? said : `${name}: ${said}`, BRIEF_LIMIT);
  });
  return [...lines, BRIEF_HONESTY].join("\n");
}

export function composeAnswer(asked: string | null, parts: readonly AnnouncedPart[]): string {
  const seen = new Set<string>();
  const sections = parts.map((part) => ({
    heading: part.name,
    trouble: part.trouble,
    lines: part.findings.split("\n").flatMap((line) => {
      const shown = cleanLine(line);
      if (shown === "" || seen.has(shown.trim())) return [];
      seen.add(shown.trim());
      return [shown];
    }),
  }));
  const shares = fairShares(sections.map((section) => section.lines.length));
  const blocks = sections.map((section, index) => {
    const share = shares[index] ?? 0;
    const rest = section.lines.length - share;
    return [
      ...(section.heading === null ? [] : [section.heading]),
      ...(section.lines.length === 0
        ? [section.trouble === null ? "- nothing was found" : `- no answer: ${section.trouble}`]
        : []),
      ...section.lines.slice(0, share),
      ...(rest > 0 ? [`  … and ${count(rest, "more line")}`] : []),
      ...(section.lines.length > 0 && section.trouble !== null ? [`  (not complete: ${section.trouble})`] : []),
    ].join("\n");
  });
  const question = asked === null ? [] : [`You asked: ${shorten(asked, 300)}`];
  return [...question, ...blocks, HONESTY].join("\n\n");
}

/** How many lines each section may have: what the short ones leave goes to the long ones. */
function fairShares(lengths: readonly number[]): readonly number[] {
  const shares = lengths.map(() => 0);
  let room = LINES_LIMIT;
  let wanting = lengths.map((_, index) => index).filter((index) => (lengths[index] ?? 0) > 0);
  while (room > 0 && wanting.length > 0) {
    for (const index of wanting) {
      if (room === 0) break;
      shares[index] = (shares[index] ?? 0) + 1;
      room--;
    }
    wanting = wanting.filter((index) => (shares[index] ?? 0) < (lengths[index] ?? 0));
  }
  return shares;
}

function cleanLine(line: string): string {
  const bare = line.trimEnd();
  return bare.length > LINE_LIMIT ? `${bare.slice(0, LINE_LIMIT - 1).toWellFormed()}…` : bare;
}
