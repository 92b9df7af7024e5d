/** Recorded values are plain: whole numbers that a store can hold, and requests that are JSON. */

import type { JournalRow } from "../../../src/core/journal/journal.ts";
import { demand, Violation } from "./violation.ts";

/** Numbers of a row that name tokens, milliseconds or sizes. */
const NUMBER = /"(input|output|cachedInput|retryAfterMs|size)":(-?[\d.e+]+|null|"[^"]*")/g;

/** Every count in the row's head is whole and not negative. */
export function checkPlainRow({ seq, head }: Pick<JournalRow, "seq" | "head">): void {
  for (const [, name, text = ""] of head.matchAll(NUMBER)) {
    const value: unknown = JSON.parse(text);
    const plain = typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
    demand("plain", plain, () => `${name} of row ${seq} is ${text}`);
  }
}

/** The messages of a request as JSON. */
export function plainText(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    throw new Violation("plain", `a model is sent what is no JSON: ${String(error)}`);
  }
}
