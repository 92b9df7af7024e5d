/**
 * Compares JSON values within a limit of work: `spend` is called for every step and may throw. Values that are nested
 * too deeply throw too.
 */

import { type Json, jsonObjectIs } from "../../core/values/json.ts";

export interface JsonComparison {
  equal(a: Json, b: Json): boolean;
  /** A text that is the same for two values only if they are equal. */
  textOf(value: Json): string;
}

export function createJsonComparison(spend: (steps: number) => void, maxDepth: number): JsonComparison {
  function equal(a: Json, b: Json): boolean {
    spend(1);
    if (typeof a !== "object" || a === null || typeof b !== "object" || b === null) return a === b;
    if (Array.isArray(a) !== Array.isArray(b)) return false;
    if (jsonObjectIs(a) && jsonObjectIs(b)) {
      const names = Object.keys(a);
      if (names.length !== Object.keys(b).length) return false;
      return names.every((name) => Object.hasOwn(b, name) && equal(a[name] ?? null, b[name] ?? null));
    }
    const [left, right] = [listOf(a), listOf(b)];
    return left.length === right.length && left.every((item, index) => equal(item, right[index] ?? null));
  }

  function textOf(value: Json, depth = 0): string {
    spend(1);
    if (typeof value === "string") spend(value.length / 64);
    if (typeof value !== "object" || value === null) return JSON.stringify(value);
    // More than any limit.
    if (depth > maxDepth) spend(Infinity);
    if (!jsonObjectIs(value))
      return `[${listOf(value)
        .map((item) => textOf(item, depth + 1))
        .join()}]`;
    const names = Object.keys(value).toSorted();
    spend(names.length);
    return `{${names.map((name) => `${JSON.stringify(name)}:${textOf(value[name] ?? null, depth + 1)}`).join()}}`;
  }

  return { equal, textOf: (value) => textOf(value) };
}

function listOf(value: Json): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : [];
}
