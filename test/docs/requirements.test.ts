/** The page of requirements names rules and files that exist; each rule of a row is cited by one of its files. */

import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const page = readFileSync("docs/reference/requirements.md", "utf8");
const contract = readFileSync("docs/reference/contract.md", "utf8");
const rules = new Set([...contract.matchAll(/^- \*\*([A-F]\d+)\*\*/gm)].map(([, rule = ""]) => rule));

interface Row {
  readonly requirement: string;
  readonly rules: readonly string[];
  readonly files: readonly string[];
}

const rows: readonly Row[] = page
  .split("\n")
  .filter((line) => line.startsWith("| ") && !line.startsWith("| requirement "))
  .map((line) => {
    const [, requirement = "", named = "", tests = ""] = line.split(/(?<!\\)\|/).map((cell) => cell.trim());
    return {
      requirement,
      rules: named.split(", "),
      files: [...tests.matchAll(/`([^`]+)`/g)].map(([, file = ""]) => file),
    };
  });

test("the page has all five parts, each with its table", () => {
  expect([...page.matchAll(/^## (.+)$/gm)].map(([, title]) => title)).toEqual([
    "Reporting by tag",
    "Reporting by tool",
    "Messages for the user",
    "The `subagent` tool",
    "Announcements",
  ]);
  expect(rows.length).toBeGreaterThan(50);
});

test.each(rows.map((row) => [row.requirement, row] as const))("rules and tests exist: %s", (_name, row) => {
  expect(row.rules.filter((rule) => !rules.has(rule))).toEqual([]);
  expect(row.files.length).toBeGreaterThan(0);
  expect(row.files.filter((file) => !file.endsWith(".test.ts") || !existsSync(file))).toEqual([]);
  const texts = row.files.map((file) => readFileSync(file, "utf8")).join("\n");
  expect(row.rules.filter((rule) => !new RegExp(`\\b${rule}\\b`).test(texts))).toEqual([]);
});
