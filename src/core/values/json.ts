/** A plain JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** True for a JSON object: neither an array nor null. */
export function jsonObjectIs(value: Json | undefined): value is { readonly [key: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value of a JSON text; undefined if the text is not JSON. */
export function jsonParsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** True if the brackets of a JSON text nest deeper than so many levels. */
export function jsonNestsDeeper(written: string, levels: number): boolean {
  if (written.length <= levels) return false;
  let depth = 0;
  let inString = false;
  for (let at = 0; at < written.length; at += 1) {
    const character = written[at];
    if (inString) {
      if (character === "\\") at += 1;
      else if (character === '"') inString = false;
    } else if (character === '"') {
      inString = true;
    } else if (character === "{" || character === "[") {
      depth += 1;
      if (depth > levels) return true;
    } else if (character === "}" || character === "]") {
      depth -= 1;
    }
  }
  return false;
}

/** Freezes a value and everything in it. A frozen value is taken as frozen throughout. */
export function deepFrozen<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const inner of Object.values(value)) deepFrozen(inner);
  return Object.freeze(value);
}
