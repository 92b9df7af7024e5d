/** The differences of two JSON texts: paths with both values, in order. */

import type { Json } from "../../../core/values/json.ts";

export interface PathDifference {
  /** `events[2].size`; empty for the whole value. */
  readonly path: string;
  /** JSON text; null where that side has nothing. */
  readonly recorded: string | null;
  readonly expected: string | null;
}

/** Null when one of the texts is no JSON. */
export function jsonDifferences(recorded: string, expected: string): PathDifference[] | null {
  const sides = [recorded, expected].map(parsed);
  const [left, right] = sides;
  if (left === undefined || right === undefined) return null;
  const found: PathDifference[] = [];
  compare(left, right, "", found);
  return found;
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

function compare(left: Json | undefined, right: Json | undefined, path: string, found: PathDifference[]): void {
  if (JSON.stringify(left) === JSON.stringify(right)) return;
  const [lefts, rights] = [members(left), members(right)];
  if (lefts === null || rights === null || Array.isArray(left) !== Array.isArray(right)) {
    found.push({ path, recorded: written(left), expected: written(right) });
    return;
  }
  const before = found.length;
  for (const name of new Set([...lefts.keys(), ...rights.keys()])) {
    const step = Array.isArray(left) ? `[${name}]` : path === "" ? name : `.${name}`;
    compare(lefts.get(name), rights.get(name), `${path}${step}`, found);
  }
  // The same members in another order.
  if (found.length === before) found.push({ path, recorded: written(left), expected: written(right) });
}

function members(value: Json | undefined): Map<string, Json> | null {
  return typeof value === "object" && value !== null ? new Map(Object.entries(value)) : null;
}

function written(value: Json | undefined): string | null {
  return value === undefined ? null : JSON.stringify(value);
}
