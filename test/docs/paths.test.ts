/** Every file and folder that a page names exists, so that a rename also changes the pages. */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, test } from "vitest";

const filesUnder = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name));

const PAGES = [
  "AGENTS.md",
  "CONTRIBUTING.md",
  "README.md",
  ...filesUnder("docs").filter((name) => name.endsWith(".md")),
];

/** The folders that paths on a page start from. */
const STARTS = [".", "src", "src/core", "src/runtime", "src/stores"];
const FILE_NAMES = new Set(["src", "test", "scripts", "bench"].flatMap(filesUnder).map((path) => basename(path)));

/** The files and folders of this repository that a page names in code. */
function pathsIn(page: string): readonly string[] {
  const text = readFileSync(page, "utf8").replaceAll(/^```[^]*?^```/gm, "");
  const named = [...text.matchAll(/`([\w-][\w.-]*(?:\/[\w.-]+)*\/?)`/g)].map(([, path = ""]) => path);
  return named.filter((path) => /\.(?:ts|mjs)$|^(?:src|test|scripts|bench|docs|evals|examples)\//.test(path));
}

function exists(page: string, path: string): boolean {
  if (!path.includes("/")) return FILE_NAMES.has(path);
  return [...STARTS, dirname(page)].some((start) => existsSync(join(start, path)));
}

test.each(PAGES)("%s names only files and folders that exist", (page) => {
  expect(pathsIn(page).filter((path) => !exists(page, path))).toEqual([]);
});

test("pages name files", () => {
  expect(PAGES.flatMap(pathsIn).length).toBeGreaterThan(100);
});
