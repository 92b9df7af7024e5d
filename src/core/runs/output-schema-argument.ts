/** The `output_schema` of a delegation: a JSON Schema that models write as JSON text, and code may give as an object (rule F1). */

import type { Arguments } from "../agent/arguments.ts";
import { type Json, jsonNestsDeeper, jsonObjectIs } from "../json.ts";

/** Deeper schemas are of no use, and some could not be written again. */
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

/** The arguments with the schema as JSON text, which is what they are checked for. */
export function withSchemaText(input: Json): Json {
  if (!jsonObjectIs(input) || !jsonObjectIs(input["output_schema"])) return input;
  return { ...input, output_schema: JSON.stringify(input["output_schema"]) };
}
