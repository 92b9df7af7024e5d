import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { layers } from "../../.dependency-cruiser.mjs";

const page = readFileSync("docs/architecture.md", "utf8");

test("the table of layers has every folder and file of src/ with its layer", () => {
  const rows = [...page.matchAll(/^\| ((?:`src\/[\w.-]+`(?:, )?)+) \| (\d) \| .+ \|$/gm)];
  const documented = rows.flatMap(([, names = "", layer]) =>
    [...names.matchAll(/`src\/([\w.-]+)`/g)].map(([, name = ""]) => [name, Number(layer)]),
  );
  const existing = readdirSync("src").filter((name) => name !== "index.ts" && !name.endsWith(".test.ts"));
  const expected = layers.flatMap((names, layer) =>
    names.filter((name) => existing.includes(name)).map((name) => [name, layer] as const),
  );
  expect(expected).toHaveLength(existing.length);
  expect(documented).toHaveLength(expected.length);
  expect(Object.fromEntries(documented)).toEqual(Object.fromEntries(expected));
});
