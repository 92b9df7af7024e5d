/**
 * Whether every provider accepts a JSON Schema as the schema of a tool's property, and how a model is shown the schema
 * of its data. Providers refuse the whole request for one keyword that they do not know or a reference that they cannot
 * follow. So a user's schema is shown as it is only if it uses what all providers document; Gemini's list is the
 * shortest.
 *
 * Invariant: each part of a portable schema has a type, or alternatives that have one. Nothing in it refers to another
 * place.
 */

import { type Json, jsonObjectIs } from "../../values/json.ts";

type Keyword = (value: Json, schema: { readonly [keyword: string]: Json }) => boolean;

const SCALARS: ReadonlySet<string> = new Set(["string", "number", "integer", "boolean"]);
const TYPES: ReadonlySet<string> = new Set([...SCALARS, "array", "object", "null"]);
/** Names that Anthropic and Gemini accept for arguments. */
const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;
const DEPTH = 16;

const always: Keyword = () => true;
const alternatives: Keyword = (value) => Array.isArray(value) && value.length > 0;

const KEYWORDS: { readonly [name: string]: Keyword } = {
  type: (value) => typeIs(value),
  title: always,
  description: always,
  // Gemini refuses other formats of strings.
  format: (value) => value === "date-time",
  enum: (value) =>
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((member: Json) => typeof member === "string" || typeof member === "number"),
  properties: (value) => jsonObjectIs(value) && Object.keys(value).length > 0 && Object.keys(value).every(nameIs),
  required: (value, { properties }) =>
    Array.isArray(value) &&
    jsonObjectIs(properties) &&
    value.every((name: Json) => typeof name === "string" && Object.hasOwn(properties, name)),
  additionalProperties: (value) => typeof value === "boolean",
  items: (value) => jsonObjectIs(value),
  anyOf: alternatives,
  oneOf: alternatives,
  minItems: always,
  maxItems: always,
  minimum: always,
  maximum: always,
  minLength: always,
  maxLength: always,
  pattern: always,
  default: always,
};

export function portableSchema(schema: Json, levels = DEPTH): boolean {
  if (!jsonObjectIs(schema) || levels === 0) return false;
  for (const [keyword, value] of Object.entries(schema)) {
    const allowed = Object.hasOwn(KEYWORDS, keyword) ? KEYWORDS[keyword] : undefined;
    if (allowed === undefined || !allowed(value, schema)) return false;
  }
  const { type, properties, items, anyOf, oneOf } = schema;
  if (type === undefined && anyOf === undefined && oneOf === undefined) return false;
  if ((type === "object") !== (properties !== undefined) || (type === "array") !== (items !== undefined)) return false;
  return partsOf(properties, items, anyOf, oneOf).every((part) => portableSchema(part, levels - 1));
}

/** The argument for data that fit this schema. */
export function dataArgument(schema: Json): "data" | "data_json" {
  return portableSchema(withoutDialect(schema)) ? "data" : "data_json";
}

/** The argument as a model sees it. */
export function dataProperty(schema: Json): { readonly [name: string]: Json } {
  const own = withoutDialect(schema);
  if (portableSchema(own)) return { data: own };
  const description = `Your data as JSON text that fits this JSON Schema: ${JSON.stringify(own)}`;
  return { data_json: { type: "string", description } };
}

/** Only the whole schema of a tool names a dialect, never a part of it. */
function withoutDialect(schema: Json): Json {
  if (!jsonObjectIs(schema) || schema["$schema"] === undefined) return schema;
  return Object.fromEntries(Object.entries(schema).filter(([keyword]) => keyword !== "$schema"));
}

function partsOf(
  properties: Json | undefined,
  items: Json | undefined,
  ...lists: readonly (Json | undefined)[]
): Json[] {
  return [
    ...(jsonObjectIs(properties) ? Object.values(properties) : []),
    ...(items === undefined ? [] : [items]),
    ...lists.flatMap((list) => (Array.isArray(list) ? (list as readonly Json[]) : [])),
  ];
}

/** One type, or a scalar that may also be null. */
function typeIs(value: Json): boolean {
  if (typeof value === "string") return TYPES.has(value);
  if (!Array.isArray(value) || value.length !== 2 || !value.includes("null")) return false;
  return value.every((type: Json) => type === "null" || (typeof type === "string" && SCALARS.has(type)));
}

function nameIs(name: string): boolean {
  return NAME.test(name);
}
