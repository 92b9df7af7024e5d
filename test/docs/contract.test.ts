import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { NUDGE_TAG, NUDGE_TOOL, NUDGE_USER_MESSAGE } from "../../src/core/text/prompts/nudges.ts";
import { NO_OUTPUT } from "../../src/core/text/prompts/announcement-text.ts";
import { messageNoMessageIs, statusLabel } from "../../src/core/text/index.ts";
import { DELEGATION_SCHEMAS } from "../../src/core/delegation/schemas.ts";

const page = readFileSync("docs/reference/contract.md", "utf8");

/** The text of each rule, by its number, in the order of the page. */
const rules = new Map(
  [...page.matchAll(/^(?:- \*\*|#+ )([A-F]\d+)\b(?:\*\*)?(.*?)(?=^(?:- \*\*|#)|$(?![^]))/gms)].map(
    ([, number = "", text = ""]) => [number, text],
  ),
);

/** The pieces of code in a rule; a line break inside one is the page's, not the code's. */
function codesOf(rule: string): string[] {
  return [...(rules.get(rule) ?? "").matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);
}

function numbers(letter: string, first: number, last: number): string[] {
  return Array.from({ length: last - first + 1 }, (_, index) => `${letter}${first + index}`);
}

test("every rule stands on the page exactly once, in order", () => {
  const marked = [...page.matchAll(/^(?:- \*\*|#+ )([A-F]\d+)\b/gm)].map(([, number]) => number);
  expect(marked).toEqual([
    ...numbers("A", 1, 9),
    ...numbers("B", 0, 12),
    ...numbers("C", 1, 5),
    ...numbers("D", 1, 14),
    ...numbers("E", 1, 4),
    ...numbers("F", 1, 11),
  ]);
  for (const [number, text] of rules) expect(`${number} ${text.trim()}`.length).toBeGreaterThan(60);
});

test.each([
  ["B2", NUDGE_TOOL],
  ["B4", NUDGE_TAG],
  ["C2", NUDGE_USER_MESSAGE],
  ["B6", NO_OUTPUT],
])("%s shows the words that models see as they are in the code", (rule, words) => {
  expect(codesOf(rule)).toContain(words);
});

test("A6 names exactly the words that mean to say nothing", () => {
  const words = codesOf("A6");
  expect(words).toEqual(["NO_MESSAGE", "NO_REPLY"]);
  for (const word of words) expect(messageNoMessageIs(word)).toBe(true);
});

test("D4 names exactly the status labels of the code", () => {
  const labels = [
    statusLabel({ status: "ok" }),
    statusLabel({ status: "ok", reason: "no-report" }),
    statusLabel({ status: "error", error: "ERROR" }),
    statusLabel({ status: "error" }),
    statusLabel({ status: "timeout" }),
    statusLabel({ status: "cancelled" }),
    statusLabel({ status: "interrupted" }),
    statusLabel(null),
  ];
  const [, listed = ""] = (rules.get("D4") ?? "").split("The labels:");
  expect([...listed.matchAll(/`([^`]+)`/g)].map(([, label]) => label)).toEqual(labels);
});

test("A8's table names every delegation tool of the code", () => {
  const named = [...(rules.get("A8") ?? "").matchAll(/^ +\| `([a-z_]+)` \|/gm)].map(([, tool]) => tool);
  expect(named).toEqual(Object.keys(DELEGATION_SCHEMAS));
});
