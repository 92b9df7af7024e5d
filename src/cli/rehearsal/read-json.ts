/** Owns the reading of JSON that somebody else wrote: what is no JSON is null. */

import type { Json } from "../../core/values/json.ts";

export function readJson(text: string): Json {
  try {
    const value: unknown = JSON.parse(text);
    return jsonIs(value) ? value : null;
  } catch {
    return null;
  }
}

function jsonIs(value: unknown): value is Json {
  if (value === null || typeof value === "string" || typeof value === "number" || typeof value === "boolean")
    return true;
  return typeof value === "object" && Object.values(value).every(jsonIs);
}
