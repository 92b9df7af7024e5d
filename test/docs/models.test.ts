import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { MODEL_SOURCES } from "../../src/models/registry/model-sources.ts";

const page = readFileSync("docs/concepts/models.md", "utf8");

test("the page of models has a row for every provider, in their order, with its package and its keys", () => {
  const rows = [...page.matchAll(/^\| `([a-z-]+)\/NAME`.*$/gm)];
  expect(rows.map(([, provider]) => provider)).toEqual(MODEL_SOURCES.map(({ provider }) => provider));
  for (const [index, { packageName, keys }] of MODEL_SOURCES.entries())
    for (const name of [packageName, ...keys]) expect(rows[index]?.[0]).toContain(`\`${name}\``);
});
