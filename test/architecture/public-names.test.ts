/**
 * The public names are those of public-names.txt. Adding, renaming or removing one changes that file, so that a reviewer
 * sees it: npm run check:tests -- test/architecture/public-names -u
 */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";
import { ROOT } from "./source-files.ts";

const ENTRIES = {
  errand: "src/index.ts",
  "errand/text": "src/core/text/index.ts",
  "errand/testing": "src/testing/index.ts",
} as const;

/** The names that an entry exports, in order; types are marked. */
function namesOf(path: string): readonly string[] {
  const source = ts.createSourceFile(path, readFileSync(join(ROOT, path), "utf8"), ts.ScriptTarget.Latest, true);
  const names = source.statements.flatMap((statement) => {
    if (!ts.isExportDeclaration(statement)) return [];
    const { exportClause, isTypeOnly } = statement;
    if (exportClause === undefined || !ts.isNamedExports(exportClause))
      throw new Error(`${path}: "export *" hides what is exported`);
    return exportClause.elements.map((one) => `${one.name.text}${isTypeOnly || one.isTypeOnly ? " (type)" : ""}`);
  });
  return names.toSorted((one, other) => (one < other ? -1 : 1));
}

test("the public names are those of public-names.txt", async () => {
  const pages = Object.entries(ENTRIES).map(([entry, path]) => [`# ${entry}`, ...namesOf(path), ""].join("\n"));
  await expect(pages.join("\n")).toMatchFileSnapshot("public-names.txt");
});

test.each(Object.values(ENTRIES))("%s exports nothing twice", (path) => {
  const names = namesOf(path);
  expect(names.length).toBeGreaterThan(5);
  expect(new Set(names).size).toBe(names.length);
});
