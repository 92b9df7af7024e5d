import { expect, test } from "vitest";
import type { Json } from "../../values/json.ts";
import { portableSchema } from "./portable-schema.ts";

const text = { type: "string" } as const;
const nested = (levels: number): Json => (levels === 0 ? text : { type: "array", items: nested(levels - 1) });

test.each<[string, Json]>([
  ["a scalar", text],
  ["an object", { type: "object", properties: { a: text }, required: ["a"], additionalProperties: false }],
  ["an array of objects", { type: "array", items: { type: "object", properties: { a: text } }, maxItems: 3 }],
  ["a value that may be null", { type: ["string", "null"] }],
  ["alternatives", { anyOf: [text, { type: "null" }] }],
  ["bounds", { type: "integer", minimum: 1, maximum: 3, default: 1 }],
  ["a choice", { type: "string", enum: ["a", "b"] }],
])("every provider takes %s", (_, schema) => {
  expect(portableSchema(schema)).toBe(true);
});

test.each<[string, Json]>([
  ["anything", {}],
  ["a boolean schema", true],
  ["a property of any type", { type: "object", properties: { a: {} } }],
  ["an object without properties", { type: "object" }],
  ["an object with empty properties", { type: "object", properties: {} }],
  ["a record", { type: "object", additionalProperties: text }],
  ["an array without items", { type: "array" }],
  ["a tuple", { type: "array", prefixItems: [text], items: false }],
  ["a reference", { type: "array", items: { $ref: "#" } }],
  ["a definition", { type: "object", properties: { a: { $ref: "#/$defs/a" } }, $defs: { a: text } }],
  ["a constant", { const: "a" }],
  ["a choice of other values", { enum: [true, null], type: "boolean" }],
  ["a choice of nothing", { type: "string", enum: [] }],
  ["several types", { type: ["string", "integer"] }],
  ["no alternative", { anyOf: [] }],
  ["all of several", { allOf: [text] }],
  ["a condition", { type: "string", not: { enum: ["a"] } }],
  ["a format of strings", { type: "string", format: "uri" }],
  ["a required property that is not listed", { type: "object", properties: { a: text }, required: ["b"] }],
  ["a name with a dollar sign", { type: "object", properties: { $a: text } }],
  ["deep nesting", nested(20)],
])("not every provider takes %s", (_, schema) => {
  expect(portableSchema(schema)).toBe(false);
});
