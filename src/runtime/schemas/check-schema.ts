/**
 * Owns what a schema may hold before any data are checked by it.
 *
 * Invariants:
 *  1. A schema that a model wrote is of a subset without regular expressions, within the bounds of MODEL; anything else
 *     is named.
 *  2. References lead to a place in the same schema. Nothing is ever loaded.
 *  3. The walk is bounded by the size of the schema, which is bounded first.
 */

import { type Json, jsonNestsDeeper, jsonObjectIs } from "../../core/values/json.ts";
import { keywordShape, type KeywordShape, modelKeywords } from "./keywords.ts";

export type SchemaAuthor = "model" | "user";

/** A schema that may be used. */
export interface CheckedSchema {
  readonly schema: Json;
  readonly patterns: ReadonlyMap<string, RegExp>;
  /** What a reference leads to. */
  readonly references: ReadonlyMap<string, Json>;
}

interface Bounds {
  readonly bytes: number;
  readonly depth: number;
  /** Schemas in one `anyOf`, `oneOf` or `allOf`, and in all of them. */
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

/** Why a schema cannot be used; caught by checkSchema, and by nobody else. */
class SchemaTrouble extends Error {}

/** The schema made ready, or why it cannot be used: a sentence that names the keyword. */
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

  function look(given: Json, keyword: string): void {
    if (typeof given === "boolean") return;
    if (!jsonObjectIs(given)) throw new SchemaTrouble(`\`${keyword}\` must be a schema: an object, true or false`);
    if (seen.has(given)) return;
    seen.add(given);
    for (const [name, value] of Object.entries(given)) {
      if (name === "$id" && author === "user" && given === schema) continue;
      const shape = keywordShape(name, author);
      if (shape === "refused" || name === "$id") throw new SchemaTrouble(refusedKeyword(name, author));
      if (shape !== "unknown") lookAt(name, shape, value);
    }
  }

  function lookAt(name: string, shape: KeywordShape, value: Json): void {
    const wrong = (what: string): never => {
      throw new SchemaTrouble(`\`${short(name)}\` must be ${what}`);
    };
    switch (shape) {
      case "schema":
        return look(value, name);
      case "schema-list":
        if (!listIs(value) || value.length === 0) return wrong("a list of schemas");
        if (name !== "prefixItems") alternatives += value.length;
        if (value.length > bounds.alternatives || alternatives > bounds.allAlternatives)
          return wrong(`at most ${bounds.alternatives} schemas, and ${bounds.allAlternatives} in all such lists`);
        for (const inner of value) look(inner, name);
        return;
      case "pattern-map":
      case "schema-map":
        if (!jsonObjectIs(value)) return wrong("an object whose values are schemas");
        for (const [key, inner] of Object.entries(value)) {
          if (shape === "pattern-map") compile(name, key);
          look(inner, name);
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
      throw new SchemaTrouble(`a regular expression of \`${name}\` is longer than ${PATTERN_LENGTH} characters`);
    try {
      patterns.set(pattern, new RegExp(pattern, "u"));
    } catch {
      throw new SchemaTrouble(`\`${name}\` holds ${JSON.stringify(short(pattern))}, which is no regular expression`);
    }
  }

  function refer(reference: string): void {
    if (references.has(reference)) return;
    const shown = JSON.stringify(short(reference));
    if (!reference.startsWith("#"))
      throw new SchemaTrouble(`\`$ref\` ${shown} leads out of the schema; write "#/$defs/NAME"`);
    const target = targetOf(schema, reference);
    if (target === undefined) throw new SchemaTrouble(`\`$ref\` ${shown} leads nowhere; write "#/$defs/NAME"`);
    references.set(reference, target);
    look(target, "$ref");
  }

  try {
    look(schema, "output_schema");
    return { schema, patterns, references };
  } catch (error) {
    if (error instanceof SchemaTrouble) return { problem: error.message };
    throw error;
  }
}

function refusedKeyword(name: string, author: SchemaAuthor): string {
  const shown = `the keyword \`${short(name)}\` cannot be used`;
  return author === "user" ? shown : `${shown}; those that can are ${modelKeywords().join(", ")}`;
}

/** Undefined when there is nothing at the place. */
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
