import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { ERROR_CODES } from "../../src/index.ts";

/** The rows of a Markdown table whose first cell is code. */
function tableRows(file: string): Record<string, string> {
  const rows = readFileSync(file, "utf8").matchAll(/^\| `([^`]+)` \| (.*) \|$/gm);
  return Object.fromEntries([...rows].map(([, code = "", rest = ""]) => [code, rest]));
}

test("the page of errors says what the registry says", () => {
  expect(tableRows("docs/reference/errors.md")).toEqual(ERROR_CODES);
});
