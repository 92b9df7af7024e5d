/** The first difference of a replay, for people: both sides, as little of them as shows it. */

import type { ReplayDifference } from "../../../core/journal/replay.ts";
import { fitWidth } from "../../text/display-width.ts";
import { terminalLine } from "../../text/terminal-text.ts";
import { jsonDifferences } from "./json-difference.ts";

const SHOWN = 8;
const VALUE_WIDTH = 100;
const NOTHING = "(nothing)";

export function differenceLines({ what, recorded, expected }: ReplayDifference): string[] {
  switch (what) {
    case "numbering":
      return both("row number", recorded, expected);
    case "hash":
      return both("hash of the chain", recorded, expected);
    case "body":
      return both("hash of the row's texts", recorded, expected);
    case "unreadable":
      return both("the row's head cannot be read", recorded, expected);
    case "decision":
      return decisionLines(recorded, expected);
  }
}

function decisionLines(recorded: string, expected: string): string[] {
  const found = jsonDifferences(recorded, expected);
  if (found === null) return both("the row", recorded, expected);
  const lines = found
    .slice(0, SHOWN)
    .flatMap(({ path, recorded, expected }) => both(path, recorded ?? NOTHING, expected ?? NOTHING));
  if (found.length > SHOWN) lines.push(`  … and ${found.length - SHOWN} more`);
  return lines;
}

function both(title: string, recorded: string, expected: string): string[] {
  const value = (text: string): string => fitWidth(terminalLine(text), VALUE_WIDTH);
  return [`  ${terminalLine(title)}`, `    recorded  ${value(recorded)}`, `    expected  ${value(expected)}`];
}
