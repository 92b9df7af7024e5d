/**
 * Reads Markdown with YAML frontmatter.
 *
 * Invariants:
 *  1. Nothing throws: frontmatter that cannot be read is a problem with its line in the file.
 *  2. No text takes long or much memory: bytes, marks and depth are limited, and aliases expand to little.
 */

import { createRequire } from "node:module";
import type * as Yaml from "yaml";
import { type Field, type Fields, fieldsOf, type Problem } from "./fields.ts";

export interface Frontmatter {
  /** False if the file has no frontmatter. */
  readonly there: boolean;
  readonly fields: Fields;
  readonly body: string;
}

const FENCE = /^---[ \t]*$/m;
const HEAD_BYTES = 64 * 1024;
const HEAD_DEPTH = 50;
/** Line breaks and signs. The time to read them is quadratic in the worst case. */
const HEAD_MARKS = 1_000;
const MARKS = "\n,:[]{}&*!|>?#%@`-\\\"'";

/** Loaded by the first frontmatter: it takes as long to load as all of Errand, and most processes read none. */
function loadYaml(): typeof Yaml {
  return createRequire(import.meta.url)("yaml") as typeof Yaml;
}

export function readFrontmatter(text: string): Frontmatter | Problem {
  const unified = text.replaceAll("\r\n", "\n").replace(/^\uFEFF/, "");
  const first = unified.slice(0, unified.indexOf("\n") + 1).trimEnd();
  if (first !== "---") return { there: false, fields: fieldsOf([]), body: unified };
  const rest = unified.slice(unified.indexOf("\n") + 1);
  const end = FENCE.exec(rest);
  if (end === null) return { problem: "its frontmatter is not closed by a line of ---", line: 1 };
  const fields = readYaml(rest.slice(0, end.index));
  if ("problem" in fields) return fields;
  return { there: true, fields, body: rest.slice(end.index + end[0].length).replace(/^\n/, "") };
}

/** The first line of the frontmatter is the second line of the file. */
function readYaml(yaml: string): Fields | Problem {
  if (Buffer.byteLength(yaml) > HEAD_BYTES)
    return { problem: `its frontmatter is longer than ${HEAD_BYTES} bytes`, line: 1 };
  const deep = tooDeepAt(yaml);
  if (deep !== null) return { problem: `its frontmatter is nested deeper than ${HEAD_DEPTH} levels`, line: deep + 1 };
  if (marksIn(yaml) > HEAD_MARKS)
    return { problem: `its frontmatter has more than ${HEAD_MARKS} lines and values`, line: 1 };
  try {
    const { isMap, LineCounter, parseDocument } = loadYaml();
    const lines = new LineCounter();
    const document = parseDocument(yaml, { lineCounter: lines, logLevel: "silent" });
    const [error] = document.errors;
    if (error !== undefined) {
      const why = error.message.split("\n", 1)[0]?.replace(/ at line \d+, column \d+:?$/, "") ?? "";
      return { problem: `its frontmatter is no YAML (${why})`, line: (error.linePos?.[0].line ?? 0) + 1 };
    }
    const { contents } = document;
    if (contents === null) return fieldsOf([]);
    if (!isMap(contents)) return { problem: "its frontmatter is not a list of keys", line: 2 };
    const value: unknown = document.toJS({ maxAliasCount: 100, mapAsMap: true });
    const positions = contents.items.map(({ key }) => lineOf(key, lines));
    const entries = value instanceof Map ? [...(value as ReadonlyMap<unknown, unknown>)] : [];
    return fieldsOf(
      entries.map(([key, given], index): Field => ({ key: String(key), value: given, line: positions[index] ?? null })),
    );
  } catch (error) {
    const why = error instanceof Error ? (error.message.split("\n", 1)[0] ?? "") : "";
    return { problem: `its frontmatter cannot be read (${why})`, line: 1 };
  }
}

function marksIn(yaml: string): number {
  let marks = 0;
  for (const character of yaml) if (MARKS.includes(character)) marks++;
  return marks;
}

function lineOf(key: unknown, lines: Yaml.LineCounter): number | null {
  if (typeof key !== "object" || key === null || !("range" in key) || !Array.isArray(key.range)) return null;
  const [start] = key.range as readonly unknown[];
  return typeof start === "number" ? lines.linePos(start).line + 1 : null;
}

/** The line on which brackets or indentation are too deep for a recursive parser; null if none is. */
function tooDeepAt(yaml: string): number | null {
  let depth = 0;
  for (const [index, line] of yaml.split("\n").entries()) {
    // Each mark of "- - - -" and "? ? ?" is a level.
    const marks = /^[\s\-?:]*/.exec(line)?.[0].replaceAll(/\s/g, "").length ?? 0;
    for (const character of line) {
      if (character === "[" || character === "{") depth++;
      if (character === "]" || character === "}") depth = Math.max(0, depth - 1);
      if (depth > HEAD_DEPTH) return index + 1;
    }
    if (marks > HEAD_DEPTH) return index + 1;
  }
  return null;
}
