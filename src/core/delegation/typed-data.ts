/**
 * Typed results (rule F10): how the schema of a delegation and the data of a report travel as arguments of models.
 *
 * A model writes the schema as JSON text; code may give an object. A child gives its data as the argument `data` with that schema, if every provider
 * accepts it; else as `data_json`, JSON text, with the schema in its description.
 */

import { type Json, jsonNestsDeeper, jsonObjectIs } from "../values/json.ts";
import type { Arguments } from "./arguments.ts";
import { portableSchema } from "../text/prompts/portable-schema.ts";

/** Deeper schemas are useless, and JSON.stringify cannot write the deepest ones. */
const MAX_DEPTH = 64;

/** The schema; undefined if none was given, null if it is not the JSON text of an object, or nests too deep. */
export function outputSchemaOf(args: Arguments): { readonly [keyword: string]: Json } | null | undefined {
  const given = args["output_schema"];
  if (given === undefined) return undefined;
  if (jsonObjectIs(given)) return given;
  if (typeof given !== "string" || jsonNestsDeeper(given, MAX_DEPTH)) return null;
  try {
    const read = JSON.parse(given) as Json;
    return jsonObjectIs(read) ? read : null;
  } catch {
    return null;
  }
}

/** The arguments with the schema as JSON text: that is what they are checked for. */
export function withSchemaText(input: Json): Json {
  if (!jsonObjectIs(input) || !jsonObjectIs(input["output_schema"])) return input;
  return { ...input, output_schema: JSON.stringify(input["output_schema"]) };
}

export type DataArgument = "data" | "data_json";

/** The argument in which a model gives data that fit this schema. */
export function dataArgument(schema: Json): DataArgument {
  return portableSchema(withoutDialect(schema)) ? "data" : "data_json";
}

/** The argument as a model sees it. */
export function dataProperty(schema: Json): { readonly [name: string]: Json } {
  const own = withoutDialect(schema);
  if (portableSchema(own)) return { data: own };
  const description = `Your data as JSON text that fits this JSON Schema: ${JSON.stringify(own)}`;
  return { data_json: { type: "string", description } };
}

/** The dialect is named by the whole schema of a tool, never by a part of it. */
function withoutDialect(schema: Json): Json {
  if (!jsonObjectIs(schema) || schema["$schema"] === undefined) return schema;
  return Object.fromEntries(Object.entries(schema).filter(([keyword]) => keyword !== "$schema"));
}

/** The data of a report from either argument; undefined if there are none, or if `data_json` is not JSON. */
export function dataGiven(args: { readonly [name: string]: Json }): Json | undefined {
  const { data, data_json: text } = args;
  if (data !== undefined || typeof text !== "string") return data;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
