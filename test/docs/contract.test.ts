import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { NUDGE_TAG, NUDGE_TOOL, NUDGE_USER_MESSAGE } from "../../src/core/text/prompts/nudges.ts";
import { NO_OUTPUT } from "../../src/core/text/prompts/announcement-text.ts";
import { messageNoMessageIs, statusLabel } from "../../src/core/text/index.ts";
import {
  DELEGATION_TOOLS,
  type DelegationTool,
  MESSAGE_SCHEMA,
  type Viewer,
  type Visibility,
} from "../../src/core/delegation/tools.ts";

const page = readFileSync("docs/reference/contract.md", "utf8");

/** The text of each rule, by its number, in the order of the page. */
const rules = new Map(
  [...page.matchAll(/^(?:- \*\*|#+ )([A-F]\d+)\b(?:\*\*)?(.*?)(?=^(?:- \*\*|#)|$(?![^]))/gms)].map(
    ([, number = "", text = ""]) => [number, text],
  ),
);

/** The texts in code marks of a rule. */
function codesOf(rule: string): string[] {
  return [...(rules.get(rule) ?? "").matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);
}

function numbers(letter: string, first: number, last: number): string[] {
  return Array.from({ length: last - first + 1 }, (_, index) => `${letter}${first + index}`);
}

test("the page has every rule once, in order", () => {
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
])("%s quotes the text of the code", (rule, words) => {
  expect(codesOf(rule)).toContain(words);
});

test("A6 names the words for an empty reply", () => {
  const words = codesOf("A6");
  expect(words).toEqual(["NO_MESSAGE", "NO_REPLY"]);
  for (const word of words) expect(messageNoMessageIs(word)).toBe(true);
});

test("D4 names the status labels of the code", () => {
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

const at = { parent: 0, definition: { reporting: "tool" }, hasCutResult: false } as const;
const inTree = { maxDepth: 1, skills: false };

/** When an agent of this kind sees the tool, in the words of the table. */
function whenVisible(tool: DelegationTool, kind: "foreground" | "background"): string {
  const visible = (agent: Partial<Viewer>, tree: Partial<Visibility> = {}): boolean =>
    DELEGATION_TOOLS[tool].visible({ ...at, kind, depth: 1, ...agent }, { ...inTree, ...tree });
  if (visible({})) return "yes";
  if (visible({}, { skills: true })) return "where there are skills";
  if (visible({ hasCutResult: true })) return "below `maxDepth`, or with a `call_id`";
  return visible({ depth: 0 }) ? "below `maxDepth`" : "no";
}

test("A8's table says for every delegation tool which agents see it", () => {
  const rows = [...(rules.get("A8") ?? "").matchAll(/^ +\| `([a-z_]+)` \| ([^|]+?) \| ([^|]+?) \|/gm)];
  // The first words of a cell; the arguments follow.
  const words = (cell = ""): string => cell.replace(/^yes[:;].*/, "yes");
  expect(rows.map(([, tool, foreground, background]) => [tool, words(foreground), words(background)])).toEqual(
    (Object.keys(DELEGATION_TOOLS) as DelegationTool[]).map((tool) => [
      tool,
      whenVisible(tool, "foreground"),
      whenVisible(tool, "background"),
    ]),
  );
});

test("A8's table has the arguments of send_agent_message", () => {
  const [, foreground = "", background = ""] =
    /^ +\| `send_agent_message` \| ([^|]+) \| ([^|]+) \|/m.exec(rules.get("A8") ?? "") ?? [];
  const codes = (cell: string): string[] => [...cell.matchAll(/`(\w+)`/g)].map(([, code = ""]) => code);
  const all = [...Object.keys(DELEGATION_TOOLS.send_agent_message.schema.properties), "data"];
  expect(codes(foreground)).toEqual(Object.keys(MESSAGE_SCHEMA.properties));
  expect([...codes(foreground), ...codes(background)]).toEqual(all);
});
