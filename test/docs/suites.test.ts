/** The table "Which tests for which folder" in AGENTS.md against the folders of `src` and `test`. */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const [, section = ""] = readFileSync("AGENTS.md", "utf8").split("## Which tests for which folder");
const named = (folder: "src" | "test"): string[] =>
  [...section.matchAll(new RegExp(`\`(${folder}/[^\`]+)\``, "g"))].map(([, path = ""]) => path);

/** The entries of a folder, without the support of tests. */
function entries(folder: "src" | "test"): string[] {
  const found = readdirSync(folder, { withFileTypes: true });
  const tested = found.filter((entry) => entry.isDirectory() || entry.name.endsWith(".test.ts"));
  const wanted = folder === "src" ? found.filter((entry) => entry.isDirectory()) : tested;
  return wanted.map(({ name }) => `${folder}/${name}`).filter((path) => path !== "test/support");
}

test("every suite and every folder in the table exists", () => {
  const paths = [...named("src"), ...named("test")];
  expect(paths.length).toBeGreaterThan(0);
  expect(paths.filter((path) => !existsSync(path))).toEqual([]);
});

test("the table names each folder of src once", () => {
  expect(named("src").toSorted()).toEqual(entries("src").toSorted());
});

test("the table names every suite of test", () => {
  expect(entries("test").filter((path) => !named("test").includes(path))).toEqual([]);
});
