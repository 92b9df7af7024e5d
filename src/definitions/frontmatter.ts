/** Markdown with YAML frontmatter, as agent and skill files have it. Keys in any case, with - or _ between words, are one key. */

import { parse } from "yaml";
import { ErrandError } from "../errors.ts";

export interface Frontmatter {
  /** Values by key: lower case, without - and _. */
  readonly keys: ReadonlyMap<string, unknown>;
  readonly body: string;
}

const FENCE = /^---[ \t]*$/m;

export function splitFrontmatter(text: string, path: string): Frontmatter {
  const unified = text.replaceAll("\r\n", "\n").replace(/^\uFEFF/, "");
  if (!unified.startsWith("---")) return { keys: new Map(), body: unified };
  const rest = unified.slice(unified.indexOf("\n") + 1);
  const end = FENCE.exec(rest);
  if (end === null) throw invalid(path, "its frontmatter is not closed by a line of ---");
  return {
    keys: keysOf(rest.slice(0, end.index), path),
    body: rest.slice(end.index + end[0].length).replace(/^\n/, ""),
  };
}

function keysOf(yaml: string, path: string): Map<string, unknown> {
  let value: unknown;
  try {
    value = parse(yaml, { maxAliasCount: 100 });
  } catch (cause) {
    const why = cause instanceof Error ? (cause.message.split("\n", 1)[0] ?? "") : "";
    throw invalid(path, `its frontmatter is no YAML (${why})`, cause);
  }
  if (value === null || value === undefined) return new Map();
  if (typeof value !== "object" || Array.isArray(value)) throw invalid(path, "its frontmatter is not a list of keys");
  return new Map(Object.entries(value).map(([key, given]) => [key.toLowerCase().replaceAll(/[-_]/g, ""), given]));
}

function invalid(path: string, why: string, cause?: unknown): ErrandError {
  return new ErrandError("definition-invalid", `The file ${path} cannot be used: ${why}.`, { cause });
}
