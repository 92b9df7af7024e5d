/**
 * Checks the arguments that a model wrote for a tool. The schema is the rule that is enforced, and what documents show;
 * what models see is made from it. A problem names the field and the remedy.
 */

import { type Json, jsonObjectIs } from "../values/json.ts";

/** One argument in the schema of a delegation tool. */
export type Property =
  | {
      readonly type: "string";
      readonly minLength?: number;
      readonly maxLength?: number;
      readonly enum?: readonly string[];
      readonly description?: string;
    }
  | { readonly type: "integer"; readonly minimum: number; readonly description?: string }
  | { readonly type: "boolean"; readonly description?: string }
  | {
      readonly type: "array";
      readonly maxItems: number;
      readonly items: Property | ArgumentSchema;
      readonly description?: string;
    }
  | { readonly type: "object"; readonly description?: string }
  /** Any JSON value. */
  | { readonly description: string; readonly type?: undefined };

/** The schema of the arguments of a delegation tool. */
export interface ArgumentSchema {
  readonly type: "object";
  readonly properties: { readonly [name: string]: Property };
  readonly required: readonly string[];
  readonly additionalProperties: false;
}

export type Arguments = { readonly [name: string]: Json };

/** The problem with the arguments, in one sentence, or null. `path`: the place of the object in them. */
export function argumentsProblem(schema: ArgumentSchema, value: Json, path = ""): string | null {
  const subject = path === "" ? "the arguments" : `\`${path}\``;
  if (typeof value === "string" && path === "") return "the arguments are not valid JSON; send one JSON object";
  if (!jsonObjectIs(value)) return `${subject} must be a JSON object`;
  for (const name of schema.required) {
    if (value[name] === undefined)
      return `\`${join(path, name)}\` is missing; give it as ${kindOf(schema.properties[name])}`;
  }
  for (const [name, member] of Object.entries(value)) {
    const property = Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;
    if (property === undefined) {
      const known = Object.keys(schema.properties).join(", ");
      return `\`${join(path, name)}\` is not known here; leave it out (known: ${known})`;
    }
    const problem = propertyProblem(property, member, join(path, name));
    if (problem !== null) return problem;
  }
  return null;
}

/** The problem with one property, with its name or path, or null. */
export function propertyProblem(property: Property | ArgumentSchema, value: Json, path: string): string | null {
  switch (property.type) {
    case undefined:
      return null;
    case "string":
      if (typeof value !== "string") return `\`${path}\` must be a string`;
      if (property.enum !== undefined && !property.enum.includes(value)) {
        return `\`${path}\` must be one of ${property.enum.join(", ")}`;
      }
      if (value.length < (property.minLength ?? 0)) return `\`${path}\` must not be empty`;
      if (property.maxLength !== undefined && value.length > property.maxLength) {
        return `\`${path}\` is too long (${value.length} characters); at most ${property.maxLength} are taken`;
      }
      return null;
    case "integer":
      if (typeof value !== "number" || !Number.isSafeInteger(value)) return `\`${path}\` must be a whole number`;
      return value < property.minimum ? `\`${path}\` must be at least ${property.minimum}` : null;
    case "boolean":
      return typeof value === "boolean" ? null : `\`${path}\` must be true or false`;
    case "array":
      if (!Array.isArray(value)) return `\`${path}\` must be an array`;
      if (value.length > property.maxItems)
        return `\`${path}\` has ${value.length} members; at most ${property.maxItems} are taken`;
      for (const [index, item] of (value as readonly Json[]).entries()) {
        const problem = propertyProblem(property.items, item, `${path}[${index}]`);
        if (problem !== null) return problem;
      }
      return null;
    case "object":
      if ("properties" in property) return argumentsProblem(property, value, path);
      return jsonObjectIs(value) ? null : `\`${path}\` must be a JSON object`;
  }
}

function join(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}

function kindOf(property: Property | undefined): string {
  if (property?.type === undefined) return "any JSON value";
  if (property.type === "boolean") return "true or false";
  return property.type === "string" ? "a string that is not empty" : `an ${property.type}`;
}
