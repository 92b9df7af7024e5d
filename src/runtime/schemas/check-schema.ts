/**
 * Checks a schema itself, before any data are checked against it.
 *
 * Invariants:
 *  1. A schema that a model wrote uses a subset without regular expressions, within the bounds for models. The problem
 *     names anything else.
 *  2. References point into the same schema. Nothing is ever loaded.
 *  3. The size of the schema is limited first, which limits the walk.
 */

import { type Json, jsonNestsDeeper, jsonObjectIs } from "../../core/values/json.ts";
import { keywordShape, type KeywordShape, modelKeywords } from "./keywords.ts";

export type SchemaAuthor = "model" | "user";

/** A schema that may be used. */
export interface CheckedSchema {
  readonly schema: Json;
  readonly patterns: ReadonlyMap<string, RegExp>;
  /** The targets of references. */
  readonly references: ReadonlyMap<string, Json>;
}

interface Bounds {
  readonly bytes: number;
  readonly depth: number;
  /** The most schemas in one `anyOf`, `oneOf` or `allOf`, and in all of them together. */
  readonly alternatives: number;
  readonly allAlternatives: number;
  readonly values: number;
}

const BOUNDS: Readonly<Record<SchemaAuthor, Bounds>> = {
  model: { bytes: 32 * 1024, depth: 32, alternatives: 32, allAlternatives: 128, values: 500 },
  user: { bytes: 256 * 1024, depth: 64, alternatives: 1_000, allAlternatives: 10_000, values: 10_000 },
};
const TYPES = ["null", "boolean", "object", "array", "number", "integer", "string"];
const PATTERN_LENGTH = 1_000;

/** Why a schema cannot be used. Only `checkSchema` catches it. */
class SchemaProblem extends Error {}

/** The checked schema, or why it cannot be used: a sentence that names the keyword. */
export function checkSchema(schema: Json, author: SchemaAuthor): CheckedSchema | { readonly problem: string } {
  const bounds = BOUNDS[author];
  const text = JSON.stringify(schema);
  if (text.length > bounds.bytes)
    return { problem: `it has ${text.length} characters; at most ${bounds.bytes} are taken` };
  if (jsonNestsDeeper(text, bounds.depth)) return { problem: `it is nested deeper than ${bounds.depth} levels` };
  const patterns = new Map<string, RegExp>();
  const references = new Map<string, Json>();
  const seen = new Set<Json>();
  let alternatives = 0;

  function checkAt(given: Json, keyword: string): void {
    if (typeof given === "boolean") return;
    if (!jsonObjectIs(given)) throw new SchemaProblem(`\`${keyword}\` must be a schema: an object, true or false`);
    if (seen.has(given)) return;
    seen.add(given);
    for (const [name, value] of Object.entries(given)) {
      if (name === "$id" && author === "user" && given === schema) continue;
      const shape = keywordShape(name, author);
      if (shape === "refused" || name === "$id") throw new SchemaProblem(refusedKeyword(name, author));
      if (shape !== "unknown") checkKeyword(name, shape, value);
    }
  }

  function checkKeyword(name: string, shape: KeywordShape, value: Json): void {
    const wrong = (what: string): never => {
      throw new SchemaProblem(`\`${short(name)}\` must be ${what}`);
    };
    switch (shape) {
      case "schema":
        return checkAt(value, name);
      case "schema-list":
        if (!listIs(value) || value.length === 0) return wrong("a list of schemas");
        if (name !== "prefixItems") alternatives += value.length;
        if (value.length > bounds.alternatives || alternatives > bounds.allAlternatives)
          return wrong(`at most ${bounds.alternatives} schemas, and ${bounds.allAlternatives} in all such lists`);
        for (const inner of value) checkAt(inner, name);
        return;
      case "pattern-map":
      case "schema-map":
        if (!jsonObjectIs(value)) return wrong("an object whose values are schemas");
        for (const [key, inner] of Object.entries(value)) {
          if (shape === "pattern-map") compile(name, key);
          checkAt(inner, name);
        }
        return;
      case "pattern":
        return typeof value === "string" ? compile(name, value) : wrong("a regular expression");
      case "text-list":
        return textListIs(value) ? undefined : wrong("a list of texts");
      case "text-lists":
        return jsonObjectIs(value) && Object.values(value).every(textListIs) ? undefined : wrong("lists of texts");
      case "count":
        return Number.isSafeInteger(value) && Number(value) >= 0 ? undefined : wrong("a whole number from 0");
      case "number":
        return typeof value === "number" ? undefined : wrong("a number");
      case "positive":
        return typeof value === "number" && value > 0 ? undefined : wrong("a number above 0");
      case "flag":
        return typeof value === "boolean" ? undefined : wrong("true or false");
      case "text":
        return typeof value === "string" ? undefined : wrong("a text");
      case "types": {
        const types: readonly Json[] = listIs(value) ? value : [value];
        const known = types.length > 0 && types.every((type) => typeof type === "string" && TYPES.includes(type));
        return known ? undefined : wrong(`one of ${TYPES.join(", ")}, or a list of them`);
      }
      case "values":
        return listIs(value) && value.length > 0 && value.length <= bounds.values
          ? undefined
          : wrong(`a list of 1 to ${bounds.values} values`);
      case "reference":
        return typeof value === "string" ? refer(value) : wrong("a text");
      case "anything":
        return;
    }
  }

  function compile(name: string, pattern: string): void {
    if (pattern.length > PATTERN_LENGTH)
      throw new SchemaProblem(`a regular expression of \`${name}\` is longer than ${PATTERN_LENGTH} characters`);
    try {
      patterns.set(pattern, new RegExp(pattern, "u"));
    } catch {
      throw new SchemaProblem(`\`${name}\` holds ${JSON.stringify(short(pattern))}, which is no regular expression`);
    }
  }

  function refer(reference: string): void {
    if (references.has(reference)) return;
    const shown = JSON.stringify(short(reference));
    if (!reference.startsWith("#"))
      throw new SchemaProblem(`\`$ref\` ${shown} leads out of the schema; write "#/$defs/NAME"`);
    const target = targetOf(schema, reference);
    if (target === undefined) throw new SchemaProblem(`\`$ref\` ${shown} leads nowhere; write "#/$defs/NAME"`);
    references.set(reference, target);
    checkAt(target, "$ref");
  }

  try {
    checkAt(schema, "output_schema");
    return { schema, patterns, references };
  } catch (error) {
    if (error instanceof SchemaProblem) return { problem: error.message };
    throw error;
  }
}

function refusedKeyword(name: string, author: SchemaAuthor): string {
  const shown = `the keyword \`${short(name)}\` cannot be used`;
  return author === "user" ? shown : `${shown}; those that can are ${modelKeywords().join(", ")}`;
}

/** Undefined if the reference has no target. */
function targetOf(schema: Json, reference: string): Json | undefined {
  let target: Json | undefined = schema;
  const steps = reference.slice(1).split("/");
  if (steps.shift() !== "") return undefined;
  for (const step of steps) {
    const name = decoded(step)?.replaceAll("~1", "/").replaceAll("~0", "~");
    if (name === undefined || typeof target !== "object" || target === null || !Object.hasOwn(target, name))
      return undefined;
    target = Object.entries(target).find(([key]) => key === name)?.[1];
  }
  return target;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function listIs(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

function textListIs(value: Json): boolean {
  return listIs(value) && value.every((item) => typeof item === "string");
}

function short(text: string): string {
  return text.length > 100 ? `${text.slice(0, 100).toWellFormed()}…` : text;
}
