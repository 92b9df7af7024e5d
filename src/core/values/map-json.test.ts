import fc from "fast-check";
import { expect, test } from "vitest";
import { mapsFromText, mapsToText } from "./map-json.ts";

const read = (value: unknown): unknown => mapsFromText(mapsToText(value));

test("maps and sets are read back at any depth", () => {
  const value = { a: new Map([["b", { c: new Set([1, 2]), d: [new Map([[3, null]])] }]]), e: "f" };
  expect(read(value)).toEqual(value);
});

test.each([
  { $map: [["a", 1]] },
  { $map: [1] },
  { $set: [1] },
  { $map: "no list", $set: 2 },
  { $$map: [], $: 1, b: { $set: [], c: 2 } },
  JSON.parse('{"__proto__":{"$map":[]},"a":1}') as unknown,
])("what a model wrote is no map and no set, whatever it looks like: %j", (written) => {
  const value = { results: new Map([["call", { input: written }]]) };
  const again = read(value) as typeof value;
  expect(JSON.stringify(again.results.get("call"))).toBe(JSON.stringify({ input: written }));
});

test("any JSON comes back as the same bytes", () => {
  const key = fc.oneof(fc.constantFrom("$map", "$set", "$$map", "$", "__proto__", "a"), fc.string());
  const { json } = fc.letrec((tie) => ({
    json: fc.oneof(
      { maxDepth: 4 },
      fc.jsonValue({ maxDepth: 0 }),
      fc.array(tie("json")),
      fc.dictionary(key, tie("json")),
    ),
  }));
  fc.assert(
    fc.property(json, (value) => {
      expect(JSON.stringify(read([value]))).toBe(JSON.stringify([value]));
    }),
  );
});
