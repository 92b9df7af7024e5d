/** The keys of a definition file, whatever its format. Keys that differ only in case, `-` and `_` are the same key. */

/** A key as it was written. */
export interface Field {
  readonly key: string;
  readonly value: unknown;
  /** From 1; null if it is unknown. */
  readonly line: number | null;
}

export interface Fields {
  /** By key in lower case, without `-` and `_`. */
  readonly byKey: ReadonlyMap<string, Field>;
  /** Fields that were left out because their key was there before. */
  readonly repeated: readonly Field[];
}

/** Why a file cannot be used. */
export interface Problem {
  readonly problem: string;
  readonly line: number | null;
}

export interface Warning {
  readonly text: string;
  /** From 1; null if it is about no line. */
  readonly line: number | null;
}

export type Warn = (text: string, field?: Field) => void;

/** What a file defines, or why it defines nothing. */
export type Parsed<Found> = { readonly found: Found; readonly warnings: readonly Warning[] } | Problem;

export function fieldsOf(found: readonly Field[]): Fields {
  const byKey = new Map<string, Field>();
  const repeated: Field[] = [];
  for (const field of found) {
    const key = plainKey(field.key);
    if (byKey.has(key)) repeated.push(field);
    else byKey.set(key, field);
  }
  return { byKey, repeated };
}

export function plainKey(key: string): string {
  return key.toLowerCase().replaceAll(/[-_]/g, "");
}

/** The entries of a map or a plain object; null for other values. */
export function entriesOf(value: unknown): readonly (readonly [string, unknown])[] | null {
  if (value instanceof Map)
    return [...(value as ReadonlyMap<unknown, unknown>)].map(([key, given]) => [String(key), given]);
  return typeof value === "object" && value !== null && !Array.isArray(value) ? Object.entries(value) : null;
}

/**
 * Reads comma-separated text or a list of texts; null for other values. A comma in brackets does not separate, as in
 * `Bash(git add, git commit)`.
 */
export function listOf(value: unknown): readonly string[] | null {
  return split(value, /,/);
}

/** Like `listOf`, but spaces also separate, as skill files write tools. */
export function toolListOf(value: unknown): readonly string[] | null {
  return split(value, /[,\s]/);
}

/** The most characters of a file. */
const LIST_LENGTH = 64 * 1024;

function split(value: unknown, separator: RegExp): readonly string[] | null {
  if (Array.isArray(value)) {
    const texts = value.filter((item): item is string => typeof item === "string").map((item) => item.trim());
    return texts.filter((item) => item !== "");
  }
  if (typeof value !== "string") return null;
  const items: string[] = [];
  let depth = 0;
  let item = "";
  for (const character of value.slice(0, LIST_LENGTH)) {
    if (character === "(") depth++;
    if (character === ")") depth = Math.max(0, depth - 1);
    if (depth === 0 && separator.test(character)) {
      items.push(item.trim());
      item = "";
    } else {
      item += character;
    }
  }
  items.push(item.trim());
  return items.filter((text) => text !== "");
}

/** Models see all descriptions at once, so each is one line, and no longer than other programs allow. */
const DESCRIPTION_LENGTH = 1_024;

export function descriptionOf(text: string): { readonly description: string; readonly warning: string | null } {
  const line = text.trim().replaceAll(/\s+/g, " ");
  if (line.length <= DESCRIPTION_LENGTH) return { description: line, warning: null };
  const description = line.slice(0, DESCRIPTION_LENGTH).toWellFormed();
  return { description, warning: `only the first ${DESCRIPTION_LENGTH} characters of \`description\` are used` };
}
