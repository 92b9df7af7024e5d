/**
 * Converts any value to plain JSON, or says why it cannot. Every value of a model or a tool is converted here before it
 * becomes an input.
 *
 * Invariants:
 *  1. Nothing throws, whatever the value: getters, proxies and cycles included. No `toJSON` is called.
 *  2. The result shares no object with the value: changing one does not change the other.
 *  3. What JSON.stringify leaves out or writes as null is left out or null here. What it would throw on, or write as
 *     something else, is refused: a bigint, a class instance, a cycle. So is what is nested too deep or is too large.
 *  4. Strings are well formed: half of a surrogate pair becomes U+FFFD.
 */

import type { Json } from "./core/values/json.ts";

export interface PlainBounds {
  /** Levels of arrays and objects. */
  readonly depth: number;
  /** The characters of all strings and names, plus 8 for every value. */
  readonly size: number;
}

/** Deeper than any sane value, and far from what overflows a stack. */
export const PLAIN_DEPTH = 200;
const PLAIN_SIZE = 16 * 1_024 * 1_024;
const VALUE_SIZE = 8;

/** `large`: it is refused only for its size. */
export type Plain = { readonly json: Json } | { readonly problem: string; readonly large?: true };

export function plainJson(value: unknown, bounds: Partial<PlainBounds> = {}): Plain {
  const { depth = PLAIN_DEPTH, size = PLAIN_SIZE } = bounds;
  const room: Room = { depth, size, left: size, problem: "it cannot be read", large: false };
  try {
    return { json: plainOf(value, room, 0) ?? null };
  } catch {
    // Thrown here, or by a getter or a proxy of the value, which may throw anything.
    return { problem: room.problem, ...(room.large ? { large: true } : {}) };
  }
}

/** A whole number from 0 to `most`; null for other values and for negative numbers. */
export function wholeNumber(value: unknown, most: number): number | null {
  if (typeof value !== "number" || Number.isNaN(value) || value < 0) return null;
  return Math.min(Math.ceil(value), most);
}

/** Members of any value. A member is undefined if it is missing, or if reading it throws. */
export function membersOf<Name extends string>(
  value: unknown,
  names: readonly Name[],
): Readonly<Partial<Record<Name, unknown>>> {
  const members: Partial<Record<Name, unknown>> = {};
  if (typeof value !== "object" || value === null) return members;
  for (const name of names) {
    try {
      members[name] = (value as Readonly<Record<string, unknown>>)[name];
    } catch {
      members[name] = undefined;
    }
  }
  return members;
}

interface Room {
  readonly depth: number;
  readonly size: number;
  left: number;
  /** Why the value is none, once that is known. */
  problem: string;
  large: boolean;
}

function refuse(room: Room, problem: string): never {
  room.problem = problem;
  throw new Error(problem);
}

/** Undefined for what JSON leaves out. */
function plainOf(value: unknown, room: Room, level: number): Json | undefined {
  take(room, VALUE_SIZE);
  switch (typeof value) {
    case "string":
      take(room, value.length);
      return value.toWellFormed();
    case "number":
      // Minus zero is written as zero.
      return Number.isFinite(value) ? value + 0 : null;
    case "boolean":
      return value;
    case "undefined":
    case "function":
    case "symbol":
      return undefined;
    case "bigint":
      return refuse(room, "it holds a bigint");
    case "object":
      if (value === null) return null;
      if (level >= room.depth) refuse(room, `it is nested deeper than ${room.depth} levels, or holds itself`);
      return Array.isArray(value) ? plainItems(value, room, level) : plainMembers(value, room, level);
  }
}

function plainItems(items: readonly unknown[], room: Room, level: number): Json {
  const { length } = items;
  take(room, length * VALUE_SIZE);
  // By its length: holes are null.
  return Array.from({ length }, (_, index) => plainOf(items[index], room, level + 1) ?? null);
}

function plainMembers(value: object, room: Room, level: number): Json {
  if (!plainObjectIs(value)) refuse(room, "it holds an object that is not plain");
  const members: [string, Json][] = [];
  for (const [name, member] of Object.entries(value) as [string, unknown][]) {
    const plain = plainOf(member, room, level + 1);
    if (plain === undefined) continue;
    take(room, name.length);
    members.push([name.toWellFormed(), plain]);
  }
  // Not by assignment: `__proto__` must stay a name.
  return Object.fromEntries(members);
}

/** Judged by the chain's length and not by identity, so that an object of another realm passes too. */
function plainObjectIs(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function take(room: Room, size: number): void {
  room.left -= size;
  // Also for what is no number: a proxy of an array may have any length.
  if (room.left >= 0) return;
  room.large = true;
  refuse(room, `it is larger than ${room.size} characters`);
}
