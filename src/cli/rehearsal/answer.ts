/**
 * Composes the answer for the user from the findings of the parts.
 *
 * Invariants:
 *  1. It has about forty lines of findings at most, shared fairly: a part that needs less leaves room to the others.
 *  2. It has no line twice and no ids, and ends with the sentence that explains the rehearsal.
 */

import type { AnnouncedPart } from "./announcement.ts";
import { HONESTY, shorten } from "./wording.ts";
import { countLabel } from "../../view/amounts.ts";

const MAX_LINES = 40;
const LINE_LENGTH = 180;
const BRIEF_LENGTH = 79;
const BRIEF_HONESTY = "(offline rehearsal: it looked for keywords, and understands no language)";

/** `asked` is the user's question; null if there was none. */
export type ComposeAnswer = (asked: string | null, parts: readonly AnnouncedPart[]) => string;

/** One line for each part. */
export function composeBriefly(_asked: string | null, parts: readonly AnnouncedPart[]): string {
  const lines = parts.map(({ name, findings, trouble }) => {
    const [first = "nothing was found"] = findings
      .split("\n")
      .flatMap((line) => line.replace(/^-\s+/, "").trim() || []);
    const answer = trouble === null ? first : `no answer: ${trouble}`;
    return shorten(name === null ? answer : `${name}: ${answer}`, BRIEF_LENGTH);
  });
  return [...lines, BRIEF_HONESTY].join("\n");
}

export function composeAnswer(asked: string | null, parts: readonly AnnouncedPart[]): string {
  const seen = new Set<string>();
  const sections = parts.map(({ name, findings, trouble }) => {
    const lines = findings.split("\n").flatMap((line) => {
      const bare = line.trimEnd();
      if (bare === "" || seen.has(bare.trim())) return [];
      seen.add(bare.trim());
      return [bare.length > LINE_LENGTH ? `${bare.slice(0, LINE_LENGTH - 1).toWellFormed()}…` : bare];
    });
    return { name, trouble, lines };
  });
  const shares = fairShares(sections.map(({ lines }) => lines.length));
  const blocks = sections.map(({ name, trouble, lines }, index) => {
    const shown = lines.slice(0, shares[index]);
    if (lines.length > shown.length) shown.push(`  … and ${countLabel(lines.length - shown.length, "more line")}`);
    if (lines.length === 0) shown.push(trouble === null ? "- nothing was found" : `- no answer: ${trouble}`);
    else if (trouble !== null) shown.push(`  (not complete: ${trouble})`);
    return [...(name === null ? [] : [name]), ...shown].join("\n");
  });
  const question = asked === null ? [] : [`You asked: ${shorten(asked, 300)}`];
  return [...question, ...blocks, HONESTY].join("\n\n");
}

/** The number of lines of each section: each gets one line in turn until the room is used. */
function fairShares(lengths: readonly number[]): readonly number[] {
  const shares = lengths.map(() => 0);
  let room = MAX_LINES;
  for (let round = 0; room > 0 && lengths.some((length) => length > round); round++) {
    for (const [index, length] of lengths.entries()) {
      if (room === 0 || length <= round) continue;
      shares[index] = round + 1;
      room--;
    }
  }
  return shares;
}
