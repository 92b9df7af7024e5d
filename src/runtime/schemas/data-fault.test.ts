/**
 * The interpreter agrees with ajv for random schemas and data. `unevaluated…` has a separate test, because ajv gets it
 * wrong beside `if`, and some of its code throws.
 */

import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import type { Json } from "../../core/values/json.ts";
import { checkSchema } from "./check-schema.ts";
import { dataFault } from "./data-fault.ts";

const SCHEMAS = 150;

/** Numbers from a seed (mulberry32), so that a failing schema can be reproduced. */
function createRandom(seed: number) {
  let state = seed;
  const below = (limit: number): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * limit);
  };
  const one = <Item>(items: readonly [Item, ...Item[]]): Item => items[below(items.length)] ?? items[0];
  const many = <Item>(most: number, make: () => Item): Item[] => Array.from({ length: 1 + below(most) }, make);
  return { below, one, many };
}

function createMaker(seed: number) {
  const { below, one, many } = createRandom(seed);
  const name = (): string => one(["a", "b", "ab", "ä"]);
  const pattern = (): string => one(["^a", "b$", "ä", "^.$"]);
  const type = (): string => one(["null", "boolean", "object", "array", "number", "integer", "string"]);
  const named = (key: () => string, make: () => Json): Json => Object.fromEntries(many(3, () => [key(), make()]));
  const names = (): Json => [...new Set(many(2, name))];

  function data(depth: number): Json {
    const kind = below(depth > 0 ? 4 : 2);
    if (kind === 2) return many(3, () => data(depth - 1));
    if (kind === 3) return named(name, () => data(depth - 1));
    return one<Json>([null, true, false, 0, 1, 1.5, -3, 12, "", "a", "ab", "äöü", "😀"]);
  }

  function schema(depth: number): Json {
    if (depth <= 0) return one<Json>([true, true, false, { type: type() }, { const: data(1) }]);
    const inner = (): Json => schema(depth - 1 - below(2));
    const keywords: readonly [() => object, ...(() => object)[]] = [
      () => ({ type: below(2) === 0 ? type() : [...new Set(many(3, type))] }),
      () => ({ enum: many(4, () => data(1)) }),
      () => ({ properties: named(name, inner) }),
      () => ({ properties: named(name, inner), additionalProperties: inner() }),
      () => ({ patternProperties: named(pattern, inner), additionalProperties: inner() }),
      () => ({ propertyNames: { pattern: pattern() } }),
      () => ({ required: names() }),
      () => ({ dependentRequired: named(name, names), dependentSchemas: named(name, inner) }),
      () => ({ minProperties: below(2), maxProperties: 1 + below(3) }),
      () => ({ items: inner() }),
      () => ({ prefixItems: many(2, inner) }),
      () => ({ prefixItems: many(2, inner), items: inner() }),
      () => ({ contains: inner(), minContains: below(2), maxContains: 1 + below(2) }),
      () => ({ minItems: below(2), maxItems: 1 + below(3), uniqueItems: below(2) === 0 }),
      () => ({ minLength: below(2), maxLength: 1 + below(3) }),
      () => ({ pattern: pattern() }),
      () => ({ minimum: -below(4), exclusiveMaximum: below(14), multipleOf: one([1, 3, 0.5]) }),
      () => ({ anyOf: many(3, inner) }),
      () => ({ oneOf: many(3, inner) }),
      () => ({ allOf: many(2, inner) }),
      () => ({ not: inner() }),
      () => Object.fromEntries(["if", "then", "else"].map((name) => [name, inner()])),
      () => ({ $ref: one(["#/$defs/a", "#/$defs/b~1c"]) }),
    ];
    return Object.assign({}, ...many(3, () => one(keywords)())) as Json;
  }

  /** References point to schemas without references, because circular ones have no answer. */
  const target = (): Json => JSON.parse(JSON.stringify(schema(2)).replaceAll('"$ref"', '"title"')) as Json;
  return {
    whole: (): Json => ({ allOf: [schema(3)], $defs: { a: target(), "b/c": target() } }),
    data: () => data(2),
  };
}

test("random data fit exactly when ajv says so", () => {
  let fitting = 0;
  for (let seed = 1; seed <= SCHEMAS; seed++) {
    const make = createMaker(seed);
    const schema = make.whole();
    const ready = checkSchema(schema, "user");
    if ("problem" in ready) throw new Error(`${ready.problem}: ${JSON.stringify(schema)}`);
    const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(structuredClone(schema) as object);
    for (let round = 0; round < 10; round++) {
      const data = make.data();
      const fits = dataFault(ready, data) === null;
      if (fits !== validate(data)) throw new Error(JSON.stringify({ seed, schema, data, fits }));
      if (fits) fitting++;
    }
  }
  expect(fitting).toBeGreaterThan(SCHEMAS);
  expect(fitting).toBeLessThan(SCHEMAS * 9);
});

test("properties and items that no keyword evaluated are unevaluated", () => {
  const fits = (schema: Json, data: Json): boolean => {
    const ready = checkSchema(schema, "user");
    if ("problem" in ready) throw new Error(ready.problem);
    return dataFault(ready, data) === null;
  };
  const names = {
    allOf: [{ properties: { a: {} } }, { anyOf: [{ properties: { b: { type: "string" } } }, true] }],
    if: { required: ["c"], properties: { c: {} } },
    unevaluatedProperties: false,
  };
  expect([{ a: 1 }, { b: "x" }, { b: 1 }, { c: 1 }, { d: 1 }].map((data) => fits(names, data))).toEqual([
    true,
    true,
    false,
    true,
    false,
  ]);
  const cousins = { allOf: [{ properties: { a: {} } }, { unevaluatedProperties: false }] };
  expect([fits(cousins, {}), fits(cousins, { a: 1 })]).toEqual([true, false]);
  const items = { prefixItems: [{}], contains: { type: "string" }, unevaluatedItems: { type: "null" } };
  expect([[1, "x"], [1, "x", null], [1, "x", 2], [1]].map((data) => fits(items, data))).toEqual([
    true,
    true,
    false,
    false,
  ]);
});
