/** Wording that all texts of the rehearsal share. */

import type { Json } from "../../core/values/json.ts";

export const HONESTY =
  "(offline rehearsal: keyword research without language understanding; use --model for a real one)";

/** The first `limit` items, and then a word about the rest. */
export function listed(items: readonly string[], limit: number, rest = ", …"): string {
  return items.slice(0, limit).join(", ") + (items.length > limit ? rest : "");
}

/** At most `limit` characters on one line, cut between words if possible. */
export function shorten(text: string, limit: number): string {
  const line = text.replace(/\s+/g, " ").trim();
  if (line.length <= limit) return line;
  const cut = line.slice(0, limit - 1);
  const space = cut.lastIndexOf(" ");
  return `${(space > limit / 2 ? cut.slice(0, space) : cut).toWellFormed()}…`;
}

export function firstSentence(text: string): string {
  return /^.*?[.!?](?=\s|$)/s.exec(text)?.[0] ?? text;
}

/** Null if the text is not JSON. */
export function readJson(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return null;
  }
}
