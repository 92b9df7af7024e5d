/**
 * How the typed data of a report travel: as the argument `data` with the schema of the run, where every provider takes that schema; else as
 * `data_json`, JSON text, with the schema in its description.
 */

import { type Json, jsonObjectIs } from "../json.ts";
import { portableSchema } from "./portable-schema.ts";

export type DataArgument = "data" | "data_json";

/** The name of the argument that a model is shown for data that fit this schema. */
export function dataArgument(schema: Json): DataArgument {
  return portableSchema(withoutDialect(schema)) ? "data" : "data_json";
}

/** The argument as a model is shown it. */
export function dataProperty(schema: Json): { readonly [name: string]: Json } {
  const own = withoutDialect(schema);
  if (portableSchema(own)) return { data: own };
  const description = `Your data as JSON text that fits this JSON Schema: ${JSON.stringify(own)}`;
  return { data_json: { type: "string", description } };
}

/** A tool's schema has one dialect, which is not for a part of it to say. */
function withoutDialect(schema: Json): Json {
  if (!jsonObjectIs(schema) || schema["$schema"] === undefined) return schema;
  return Object.fromEntries(Object.entries(schema).filter(([keyword]) => keyword !== "$schema"));
}

/** The data of a report, by whichever argument they came; undefined if there are none, or if they are no JSON text. */
export function dataGiven(args: { readonly [name: string]: Json }): Json | undefined {
  const { data, data_json: text } = args;
  if (data !== undefined || typeof text !== "string") return data;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
