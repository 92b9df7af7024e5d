/**
 * Typed results (rule F10): the schema of a delegation and the data of a report, as arguments of tools.
 *
 * A model writes the schema as JSON text; code may give an object. If every provider accepts the schema, the child
 * gives its data as the argument `data`, which has that schema. Else it gives them as `data_json`, JSON text, and the
 * schema stands in the description.
 */

import { type Json, jsonNestsDeeper, jsonObjectIs, jsonParsed } from "../values/json.ts";
import type { Arguments } from "./arguments.ts";

/** Deeper schemas are useless, and JSON.stringify cannot write the deepest ones. */
const MAX_DEPTH = 64;

/** The schema; undefined without one; null if it is not the JSON text of an object, or nests too deep. */
export function outputSchemaOf(args: Arguments): { readonly [keyword: string]: Json } | null | undefined {
  const given = args["output_schema"];
  if (given === undefined) return undefined;
  if (jsonObjectIs(given)) return given;
  if (typeof given !== "string" || jsonNestsDeeper(given, MAX_DEPTH)) return null;
  const schema = jsonParsed(given);
  return jsonObjectIs(schema) ? schema : null;
}

/** The arguments with the schema as JSON text, which is the form that is checked. */
export function withSchemaText(input: Json): Json {
  if (!jsonObjectIs(input) || !jsonObjectIs(input["output_schema"])) return input;
  return { ...input, output_schema: JSON.stringify(input["output_schema"]) };
}

/** The data of a report from either argument; undefined without data, or if `data_json` is not JSON. */
export function dataGiven(args: { readonly [name: string]: Json }): Json | undefined {
  const { data, data_json: text } = args;
  return data !== undefined || typeof text !== "string" ? data : jsonParsed(text);
}
