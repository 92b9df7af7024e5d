/** The pages of the API reference are what `npm run docs:api` makes of the sources. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { apiPages, FOLDER } from "../../scripts/api-pages.mjs";

const { pages, problems } = apiPages();

test("everything that the package exports has a comment and a page", () => {
  expect(pages.size).toBeGreaterThan(10);
  expect(problems).toEqual([]);
});

test("the pages are those that `npm run docs:api` writes", () => {
  expect(
    readdirSync(FOLDER)
      .map((name) => join(FOLDER, name))
      .toSorted(),
  ).toEqual([...pages.keys()].toSorted());
  const stale = [...pages].filter(([path, text]) => readFileSync(path, "utf8") !== text).map(([path]) => path);
  expect(stale, "run `npm run docs:api`").toEqual([]);
});
