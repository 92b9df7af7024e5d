import { expect, test } from "vitest";
import { goldenHeads } from "../golden-heads.test-support.ts";
import { definitionsOf, headRead } from "./row.ts";

test("the definitions of a row are those of its catalog, and its root's", () => {
  const inputs = goldenHeads().map((head) => headRead(head).input);
  const naming = inputs.filter((input) => definitionsOf(input).length > 0);
  expect(naming.length).toBeGreaterThan(3);
  for (const input of naming) {
    const hashes = JSON.stringify(input).match(/"hash":"[A-Za-z0-9_-]{43}"/g) ?? [];
    const own = input.type === "tree-forked" ? [input.hash] : [];
    const named = [...own, ...definitionsOf(input).map(({ hash }) => hash)];
    expect(named.map((hash) => `"hash":"${hash}"`).toSorted()).toEqual([...hashes].toSorted());
  }
});
