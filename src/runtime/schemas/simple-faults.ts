/** The keywords of JSON Schema for a value's type, for numbers and for texts. */

import { type Json, jsonObjectIs } from "../../core/values/json.ts";

type JsonObject = { readonly [key: string]: Json };

/** `type` is a name or a list of names. */
export function typeFits(type: Json, value: Json): boolean {
  return (Array.isArray(type) ? (type as readonly Json[]) : [type]).some((name) => typeIs(name, value));
}

function typeIs(name: Json, value: Json): boolean {
  switch (name) {
    case "null":
      return value === null;
    case "array":
      return Array.isArray(value);
    case "object":
      return jsonObjectIs(value);
    case "integer":
      return Number.isInteger(value);
    default:
      return typeof value === name;
  }
}

export function numberFault(given: JsonObject, value: number): string | null {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = given;
  if (typeof minimum === "number" && value < minimum) return `must be at least ${minimum}`;
  if (typeof maximum === "number" && value > maximum) return `must be at most ${maximum}`;
  if (typeof exclusiveMinimum === "number" && value <= exclusiveMinimum) return `must be above ${exclusiveMinimum}`;
  if (typeof exclusiveMaximum === "number" && value >= exclusiveMaximum) return `must be below ${exclusiveMaximum}`;
  if (typeof multipleOf === "number" && !Number.isInteger(value / multipleOf))
    return `must be a multiple of ${multipleOf}`;
  return null;
}

/** Lengths are in code points. */
export function textFault({ minLength, maxLength }: JsonObject, value: string): string | null {
  if (minLength === undefined && maxLength === undefined) return null;
  const { length } = [...value];
  if (typeof minLength === "number" && length < minLength) return `must have at least ${minLength} characters`;
  if (typeof maxLength === "number" && length > maxLength) return `must have at most ${maxLength} characters`;
  return null;
}
