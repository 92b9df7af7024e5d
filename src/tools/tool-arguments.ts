/**
 * Owns the reading of a tool's arguments: what a model wrote, field by field.
 *
 * Invariants:
 *  1. Nothing throws. The first problem found is kept in `problem`, names the field and says what to write instead.
 *  2. An unknown property is a problem; null means left out.
 *  3. Values read after a problem are harmless stand-ins: check `problem` before using any.
 */

import { jsonObjectIs } from "../core/json.ts";
import type { Json } from "../core/json.ts";

export interface ArgumentReader {
  readonly problem: string | null;
  requiredText(field: string): string;
  text(field: string): string | undefined;
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

function describe(value: Json): string {
  if (typeof value === "string") return `the text ${JSON.stringify(value.slice(0, 40))}`;
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return Array.isArray(value) ? "an array" : "an object";
}
