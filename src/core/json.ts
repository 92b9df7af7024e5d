/** A plain JSON value, as a body holds it and as JSON.stringify writes it. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** True for a JSON object: neither an array nor null. */
export function jsonObjectIs(value: Json | undefined): value is { readonly [key: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
