/**
 * The keys of a definition's head, whatever it was written in. Keys in any case, with - or _ between words, are one key.
 */

/** One key as it was written, with the line it stands on where that is known. */
export interface Field {
  readonly key: string;
  readonly value: unknown;
  readonly line: number | null;
}

/** What a reader of a head found, or why it cannot be read. */
export interface Problem {
  readonly problem: string;
  readonly line: number | null;
}

export interface Fields {
  /** By key: lower case, without - and _. */
  readonly byKey: ReadonlyMap<string, Field>;
  /** Keys that say the same as an earlier one and were left out. */
  readonly repeated: readonly Field[];
}

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

/** The entries of a map or a plain object, else null. */
export function entriesOf(value: unknown): readonly (readonly [string, unknown])[] | null {
  if (value instanceof Map)
    return [...(value as ReadonlyMap<unknown, unknown>)].map(([key, given]) => [String(key), given]);
  return typeof value === "object" && value !== null && !Array.isArray(value) ? Object.entries(value) : null;
}

/**
 * Comma-separated text or a list of texts; null for anything else. A comma in brackets belongs to its item, as in
 * `Bash(git add, git commit)`.
 */
export function listOf(value: unknown): readonly string[] | null {
  return split(value, /,/);
}

/** As `listOf`; blanks part tools too, as skill files have it. */
export function toolListOf(value: unknown): readonly string[] | null {
  return split(value, /[,\s]/);
}

/** A file has no more. */
const LIST_LENGTH = 64 * 1024;

function split(value: unknown, between: RegExp): readonly string[] | null {
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
    if (depth === 0 && between.test(character)) {
      items.push(item.trim());
      item = "";
    } else {
      item += character;
    }
  }
  items.push(item.trim());
  return items.filter((text) => text !== "");
}

/** Agents are told of all descriptions at once: each is one line, and no longer than other programs allow it to be. */
const DESCRIPTION_LIMIT = 1_024;

export function descriptionOf(text: string): { readonly description: string; readonly warning: string | null } {
  const line = text.trim().replaceAll(/\s+/g, " ");
  if (line.length <= DESCRIPTION_LIMIT) return { description: line, warning: null };
  const description = line.slice(0, DESCRIPTION_LIMIT).toWellFormed();
  return { description, warning: `only the first ${DESCRIPTION_LIMIT} characters of \`description\` are used` };
}
