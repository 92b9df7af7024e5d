/**
 * Owns the reading of a tool's arguments: what a model wrote, field by field.
 *
 * Invariants:
 *  1. Nothing throws. The first problem found is kept in `problem`, names the field and says what to write instead.
 *  2. An unknown property is a problem; null means left out.
 *  3. Values read after a problem are harmless stand-ins: check `problem` before using any.
 */

import { jsonObjectIs } from "../core/values/json.ts";
import type { Json } from "../core/values/json.ts";
import type { Refusal } from "./workspace.ts";

export interface ArgumentReader {
  readonly problem: string | null;
  requiredText(field: string): string;
  text(field: string): string | undefined;
  /** May be empty, may be long, and must be there. */
  content(field: string, maxBytes: number): string;
  /** At least one text, none with a NUL. */
  requiredTexts(field: string, bounds: { readonly count: number; readonly bytes: number }): readonly string[];
  flag(field: string): boolean;
  count(field: string, range: { readonly min: number; readonly max: number; readonly standard: number }): number;
}

const TEXT_LIMIT = 10_000;

/** `example` is a valid call's arguments, shown when the arguments are no object at all. */
export function createArgumentReader(input: Json, known: readonly string[], example: string): ArgumentReader {
  let problem: string | null = null;
  const values = new Map<string, Json>();

  function report(sentence: string): void {
    problem ??= sentence;
  }

  if (!jsonObjectIs(input)) {
    const got = typeof input === "string" ? "a text" : input === null ? "null" : describe(input);
    report(`the arguments must be a JSON object, and were ${got}. Write for example ${example}.`);
  } else {
    for (const [name, value] of Object.entries(input)) {
      if (!known.includes(name)) {
        report(
          `\`${name.slice(0, 100)}\` is not an argument of this tool. Leave it out; the arguments are ${known.map((field) => `\`${field}\``).join(", ")}.`,
        );
      } else if (value !== null) {
        values.set(name, value);
      }
    }
  }

  function text(field: string): string | undefined {
    const value = values.get(field);
    if (value === undefined) return undefined;
    if (typeof value !== "string") {
      report(`\`${field}\` must be a text, and was ${describe(value)}. Write it in double quotes.`);
      return undefined;
    }
    if (value.length > TEXT_LIMIT) report(`\`${field}\` is longer than ${TEXT_LIMIT} characters. Give a shorter one.`);
    return value;
  }

  return {
    get problem() {
      return problem;
    },
    text,
    requiredText(field) {
      const value = text(field);
      if (value === undefined || value === "") {
        report(`\`${field}\` is missing or empty. Write for example ${example}.`);
        return "";
      }
      return value;
    },
    content(field, maxBytes) {
      const value = values.get(field);
      if (typeof value !== "string") {
        const got = value === undefined ? "is missing" : `must be a text, and was ${describe(value)}`;
        report(`\`${field}\` ${got}. Write for example ${example}.`);
        return "";
      }
      if (!value.isWellFormed()) report(`\`${field}\` holds half a character (a lone surrogate). Write it whole.`);
      const bytes = Buffer.byteLength(value);
      if (bytes > maxBytes)
        report(`\`${field}\` has ${bytes} bytes; at most ${maxBytes} are taken. Write it in parts.`);
      return value;
    },
    requiredTexts(field, bounds) {
      const value = values.get(field);
      if (value === undefined || !Array.isArray(value) || value.length === 0) {
        const got = value === undefined ? "is missing" : `must be a list of texts, and was ${describe(value)}`;
        report(`\`${field}\` ${got}. Write for example ${example}.`);
        return [];
      }
      const texts = value.filter((item) => typeof item === "string");
      if (texts.length < value.length)
        report(`every item of \`${field}\` must be a text. Write for example ${example}.`);
      if (texts.some((item) => item.includes("\0"))) report(`\`${field}\` holds a NUL character. Write it without.`);
      const bytes = texts.reduce((sum, item) => sum + Buffer.byteLength(item) + 1, 0);
      if (texts.length > bounds.count || bytes > bounds.bytes) {
        report(
          `\`${field}\` has ${texts.length} items and ${bytes} bytes; at most ${bounds.count} items and ${bounds.bytes} bytes are taken.`,
        );
      }
      return texts;
    },
    flag(field) {
      const value = values.get(field);
      if (value === undefined) return false;
      if (typeof value === "boolean") return value;
      report(`\`${field}\` must be true or false, and was ${describe(value)}. Write true or false without quotes.`);
      return false;
    },
    count(field, { min, max, standard }) {
      const value = values.get(field);
      if (value === undefined) return standard;
      if (typeof value === "number" && Number.isSafeInteger(value) && value >= min && value <= max) return value;
      report(
        `\`${field}\` must be a whole number from ${min} to ${max}, and was ${describe(value)}. Write for example ${standard}.`,
      );
      return standard;
    },
  };
}

/** What `Tool.check` says of arguments that were read: the refusal, or null. */
export function argumentsRefused(read: object | Refusal): string | null {
  return "refused" in read ? read.refused : null;
}

function describe(value: Json): string {
  if (typeof value === "string") return `the text ${JSON.stringify(value.slice(0, 40))}`;
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return Array.isArray(value) ? "an array" : "an object";
}
