/**
 * The arguments of a tool. One table gives the JSON Schema that models see and the check of what they write.
 *
 * Invariants:
 *  1. Nothing throws. The first problem names the argument and says what to write instead.
 *  2. An unknown argument is a problem. Null counts as left out.
 */

import { type Json, jsonObjectIs } from "../core/values/json.ts";
import type { Refusal } from "./workspace.ts";

/** One argument. */
export interface Argument<T> {
  /** Null: models do not see the argument. */
  readonly schema: { readonly [keyword: string]: Json } | null;
  readonly required: boolean;
  /** The value. After a problem was reported it is not used. */
  read(value: Json | undefined, reading: Reading): T;
}

interface Reading {
  readonly name: string;
  /** The arguments of a valid call. */
  readonly example: string;
  report(problem: string): void;
}

export interface ToolArguments<T> {
  readonly schema: Json;
  read(input: Json): { readonly values: T } | Refusal;
}

export type ArgumentsOf<Table> = Table extends ToolArguments<infer T> ? T : never;

const TEXT_LENGTH = 10_000;

/** `problemOf` checks what concerns several arguments; null means no problem. */
export function defineArguments<T extends object>(
  table: { readonly [Name in keyof T]: Argument<T[Name]> },
  example: string,
  problemOf: (values: T) => string | null = () => null,
): ToolArguments<T> {
  const all = Object.entries<Argument<unknown>>(table);
  const names = all.map(([name]) => name);
  const required = all.filter(([, argument]) => argument.required).map(([name]) => name);
  return {
    schema: {
      type: "object",
      properties: Object.fromEntries(all.flatMap(([name, { schema }]) => (schema === null ? [] : [[name, schema]]))),
      ...(required.length === 0 ? {} : { required }),
    },
    read(input) {
      if (!jsonObjectIs(input)) {
        const got = typeof input === "string" ? "a text" : input === null ? "null" : describe(input);
        return { refused: `the arguments must be a JSON object, and were ${got}. Write for example ${example}.` };
      }
      const unknown = Object.keys(input).find((name) => !names.includes(name));
      if (unknown !== undefined) {
        const known = names.map((name) => `\`${name}\``).join(", ");
        const problem = `\`${unknown.slice(0, 100)}\` is not an argument of this tool`;
        return { refused: `${problem}. Leave it out; the arguments are ${known}.` };
      }
      const problems: string[] = [];
      const report = (problem: string): void => void problems.push(problem);
      const read = all.map(([name, argument]) => [
        name,
        argument.read(input[name] ?? undefined, { name, example, report }),
      ]);
      const values = Object.fromEntries(read) as T;
      const problem = problems[0] ?? problemOf(values);
      return problem === null ? { values } : { refused: problem };
    },
  };
}

/** A text that must be there and not be empty. */
export function requiredText(description: string): Argument<string> {
  return {
    schema: { type: "string", minLength: 1, description },
    required: true,
    read(value, reading) {
      const given = textIn(value, TEXT_LENGTH, reading) ?? "";
      if (given === "")
        reading.report(`\`${reading.name}\` is missing or empty. Write for example ${reading.example}.`);
      return given;
    },
  };
}

/** A text with a default: another text, or undefined. */
export function optionalText<Default extends string | undefined>(
  standard: Default,
  description: string,
  maxLength = TEXT_LENGTH,
): Argument<string | Default> {
  return {
    schema: { type: "string", description },
    required: false,
    read: (value, reading) => textIn(value, maxLength, reading) ?? standard,
  };
}

/** The content of a file, or a part of it: it must be there, and may be empty and long. */
export function fileContent(maxBytes: number, description: string): Argument<string> {
  return {
    schema: { type: "string", description },
    required: true,
    read(value, { name, example, report }) {
      if (typeof value !== "string") {
        const got = value === undefined ? "is missing" : `must be a text, and was ${describe(value)}`;
        report(`\`${name}\` ${got}. Write for example ${example}.`);
        return "";
      }
      if (!value.isWellFormed()) report(`\`${name}\` holds half a character (a lone surrogate). Write it whole.`);
      const bytes = Buffer.byteLength(value);
      if (bytes > maxBytes)
        report(`\`${name}\` has ${bytes} bytes; at most ${maxBytes} are accepted. Write it in parts.`);
      return value;
    },
  };
}

/** At least one text, none with a NUL. */
export function textList(
  most: { readonly items: number; readonly bytes: number },
  description: string,
): Argument<readonly string[]> {
  return {
    schema: { type: "array", items: { type: "string" }, minItems: 1, description },
    required: true,
    read(value, { name, example, report }) {
      if (!Array.isArray(value) || value.length === 0) {
        const got = value === undefined ? "is missing" : `must be a list of texts, and was ${describe(value)}`;
        report(`\`${name}\` ${got}. Write for example ${example}.`);
        return [];
      }
      const items = value.filter((item) => typeof item === "string");
      if (items.length < value.length)
        report(`every item of \`${name}\` must be a text. Write for example ${example}.`);
      if (items.some((item) => item.includes("\0"))) report(`\`${name}\` holds a NUL character. Write it without.`);
      const bytes = items.reduce((sum, item) => sum + Buffer.byteLength(item) + 1, 0);
      if (items.length > most.items || bytes > most.bytes) {
        const limit = `at most ${most.items} items and ${most.bytes} bytes are accepted`;
        report(`\`${name}\` has ${items.length} items and ${bytes} bytes; ${limit}.`);
      }
      return items;
    },
  };
}

/** True or false. Default: false. */
export function flag(description: string): Argument<boolean> {
  return {
    schema: { type: "boolean", description: `${description} Default: false.` },
    required: false,
    read(value, { name, report }) {
      if (value === undefined || typeof value === "boolean") return value ?? false;
      report(`\`${name}\` must be true or false, and was ${describe(value)}. Write true or false without quotes.`);
      return false;
    },
  };
}

export function wholeNumber(
  { min, max, standard }: { readonly min: number; readonly max: number; readonly standard: number },
  description: string,
): Argument<number> {
  return {
    schema: {
      type: "integer",
      minimum: min,
      maximum: max,
      description: `${description} Default: ${standard}.`,
    },
    required: false,
    read(value, { name, report }) {
      if (value === undefined) return standard;
      if (typeof value === "number" && Number.isSafeInteger(value) && value >= min && value <= max) return value;
      const rule = `must be a whole number from ${min} to ${max}`;
      report(`\`${name}\` ${rule}, and was ${describe(value)}. Write for example ${standard}.`);
      return standard;
    },
  };
}

function textIn(value: Json | undefined, maxLength: number, { name, report }: Reading): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== "string") {
    report(`\`${name}\` must be a text, and was ${describe(value)}. Write it in double quotes.`);
    return undefined;
  }
  if (value.length > maxLength) report(`\`${name}\` is longer than ${maxLength} characters. Give a shorter one.`);
  return value;
}

function describe(value: Json): string {
  if (typeof value === "string") return `the text ${JSON.stringify(value.slice(0, 40))}`;
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return Array.isArray(value) ? "an array" : "an object";
}
