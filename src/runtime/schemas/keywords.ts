/**
 * The keywords of JSON Schema (draft 2020-12) that Errand supports, the shape of their values, and who may use them.
 */

export type KeywordShape =
  | "schema"
  | "schema-list"
  | "schema-map"
  | "pattern-map"
  | "pattern"
  | "text-list"
  | "text-lists"
  | "count"
  | "number"
  | "positive"
  | "flag"
  | "types"
  | "values"
  | "reference"
  | "text"
  | "anything";

interface Keyword {
  readonly shape: KeywordShape;
  /** True if models may use it too. */
  readonly models: boolean;
}

const forAll = (shape: KeywordShape): Keyword => ({ shape, models: true });
const forUsers = (shape: KeywordShape): Keyword => ({ shape, models: false });

const KEYWORDS: ReadonlyMap<string, Keyword> = new Map([
  ["type", forAll("types")],
  ["enum", forAll("values")],
  ["const", forAll("anything")],
  ["properties", forAll("schema-map")],
  ["required", forAll("text-list")],
  ["additionalProperties", forAll("schema")],
  ["minProperties", forAll("count")],
  ["maxProperties", forAll("count")],
  ["items", forAll("schema")],
  ["prefixItems", forAll("schema-list")],
  ["minItems", forAll("count")],
  ["maxItems", forAll("count")],
  ["uniqueItems", forAll("flag")],
  ["minLength", forAll("count")],
  ["maxLength", forAll("count")],
  ["minimum", forAll("number")],
  ["maximum", forAll("number")],
  ["exclusiveMinimum", forAll("number")],
  ["exclusiveMaximum", forAll("number")],
  ["multipleOf", forAll("positive")],
  ["anyOf", forAll("schema-list")],
  ["oneOf", forAll("schema-list")],
  ["allOf", forAll("schema-list")],
  ["not", forAll("schema")],
  ["$ref", forAll("reference")],
  ["$defs", forAll("schema-map")],
  ["definitions", forAll("schema-map")],
  // Not checked; only the child's model reads it.
  ["$schema", forAll("text")],
  ["$comment", forAll("text")],
  ["title", forAll("text")],
  ["description", forAll("text")],
  ["default", forAll("anything")],
  ["examples", forAll("anything")],
  ["deprecated", forAll("flag")],
  ["format", forAll("text")],
  ["pattern", forUsers("pattern")],
  ["patternProperties", forUsers("pattern-map")],
  ["propertyNames", forUsers("schema")],
  ["contains", forUsers("schema")],
  ["minContains", forUsers("count")],
  ["maxContains", forUsers("count")],
  ["if", forUsers("schema")],
  ["then", forUsers("schema")],
  ["else", forUsers("schema")],
  ["dependentRequired", forUsers("text-lists")],
  ["dependentSchemas", forUsers("schema-map")],
  ["unevaluatedProperties", forUsers("schema")],
  ["unevaluatedItems", forUsers("schema")],
]);

/** Keywords that change how or where a schema is resolved or run. No author may use them. */
const REFUSED: ReadonlySet<string> = new Set([
  "$async",
  "$anchor",
  "$dynamicRef",
  "$dynamicAnchor",
  "$recursiveRef",
  "$recursiveAnchor",
  "$vocabulary",
]);

/** The shape of a keyword's value. "unknown" keywords are ignored in schemas of users; "refused" ones are an error. */
export function keywordShape(name: string, author: "model" | "user"): KeywordShape | "unknown" | "refused" {
  if (REFUSED.has(name)) return "refused";
  const known = KEYWORDS.get(name);
  if (author === "user") return known?.shape ?? "unknown";
  return known?.models === true ? known.shape : "refused";
}

/** The keywords that models may use, for the message that refuses others. */
export function modelKeywords(): readonly string[] {
  return [...KEYWORDS].filter(([, { models }]) => models).map(([name]) => name);
}
