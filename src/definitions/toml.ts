/**
 * Reads the part of TOML that agent files use: keys (bare, quoted, dotted), tables and arrays of tables, all four kinds
 * of strings, numbers, booleans, arrays, inline tables. Dates and times are refused with a message.
 *
 * Invariants:
 *  1. Nothing throws: what cannot be read is a problem with its line.
 *  2. A repeated key is a problem.
 *  3. Values are nested at most DEPTH levels. The time is linear in the text.
 */

import type { Field, Problem } from "./fields.ts";

type TomlTable = Map<string, TomlValue>;
type TomlValue = string | number | boolean | readonly TomlValue[] | TomlTable;

const DEPTH = 32;
const LENGTH = 64 * 1024;
const BLANK = /[ \t]*/y;
const BLANK_LINES = /(?:[ \t\n]|#[^\n]*)*/y;
const BARE_KEY = /[A-Za-z0-9_-]+/y;
const WORD = /[^\s,\]}#]+/y;
const DATE = /^\d{4}-\d{2}-\d{2}|^\d{2}:\d{2}/;
const NUMBER = /^[+-]?(?:0|[1-9](?:_?\d)*)(?:\.\d(?:_?\d)*)?(?:[eE][+-]?\d(?:_?\d)*)?$/;
const OTHER_BASE = /^0(?:x[0-9A-Fa-f](?:_?[0-9A-Fa-f])*|o[0-7](?:_?[0-7])*|b[01](?:_?[01])*)$/;
const ESCAPES: Readonly<Record<string, string>> = {
  b: "\b",
  t: "\t",
  n: "\n",
  f: "\f",
  r: "\r",
  e: "\u001b",
  '"': '"',
  "\\": "\\",
};

class TomlError extends Error {
  readonly line: number;

  constructor(message: string, line: number) {
    super(message);
    this.line = line;
  }
}

/** The top-level keys, in order. */
export function readToml(text: string): readonly Field[] | Problem {
  if (text.length > LENGTH) return { problem: `it is longer than ${LENGTH} characters`, line: null };
  try {
    return parseToml(text.replaceAll("\r\n", "\n").replace(/^\uFEFF/, ""));
  } catch (error) {
    if (error instanceof TomlError)
      return { problem: `it is not the TOML that is supported here: ${error.message}`, line: error.line };
    throw error;
  }
}

/** Throws a TomlError. */
function parseToml(text: string): readonly Field[] {
  let at = 0;
  let counted = 0;
  let lines = 1;

  function line(): number {
    for (; counted < at; counted++) if (text[counted] === "\n") lines++;
    return lines;
  }

  function fail(message: string): never {
    throw new TomlError(message, line());
  }

  function match(pattern: RegExp): string {
    const sticky = new RegExp(pattern);
    sticky.lastIndex = at;
    const found = sticky.exec(text)?.[0] ?? "";
    at += found.length;
    return found;
  }

  function take(mark: string): boolean {
    match(BLANK);
    if (!text.startsWith(mark, at)) return false;
    at += mark.length;
    return true;
  }

  function literal(quote: string, many: boolean): string {
    const end = text.indexOf(quote, at);
    if (end < 0) fail("a string is not closed");
    // Up to two quotes before the closing ones belong to the content.
    const extra = many ? (/^'{0,2}/.exec(text.slice(end + 3, end + 5))?.[0].length ?? 0) : 0;
    const content = text.slice(at, end + extra);
    if (!many && content.includes("\n")) fail("a string is not closed on its line");
    at = end + extra + quote.length;
    return content;
  }

  function escaped(): string {
    const mark = text[at++] ?? "";
    const simple = Object.hasOwn(ESCAPES, mark) ? ESCAPES[mark] : undefined;
    if (simple !== undefined) return simple;
    const digits = mark === "u" ? 4 : mark === "U" ? 8 : mark === "x" ? 2 : 0;
    const hex = text.slice(at, at + digits);
    const code = digits > 0 && /^[0-9A-Fa-f]+$/.test(hex) && hex.length === digits ? parseInt(hex, 16) : -1;
    if (code < 0 || code > 0x10_ff_ff || (code >= 0xd8_00 && code <= 0xdf_ff)) fail(`"\\${mark}" is no escape`);
    at += digits;
    return String.fromCodePoint(code);
  }

  function basic(many: boolean): string {
    const parts: string[] = [];
    const plain = many ? /[^"\\]+/y : /[^"\\\n]+/y;
    for (;;) {
      parts.push(match(plain));
      if (at >= text.length || text[at] === "\n") fail("a string is not closed");
      if (text[at] === "\\") {
        at++;
        if (many && /^[ \t]*\n/.test(text.slice(at, at + 200))) match(/[ \t\n]+/y);
        else parts.push(escaped());
        continue;
      }
      if (!many || text.startsWith('"""', at)) break;
      parts.push('"');
      at++;
    }
    const quotes = many ? match(/"{3,5}/y).length - 3 : 0;
    if (!many) at++;
    parts.push('"'.repeat(quotes));
    return parts.join("");
  }

  /** A line break directly after the opening quotes is not part of the string. */
  function string(): string | null {
    if (take("'''")) {
      match(/\n?/y);
      return literal("'''", true);
    }
    if (take('"""')) {
      match(/\n?/y);
      return basic(true);
    }
    if (take("'")) return literal("'", false);
    return take('"') ? basic(false) : null;
  }

  function need(mark: string): void {
    if (!take(mark)) fail(`"${mark}" was expected`);
  }

  /** Skips blanks, comments and line breaks. */
  function skipLines(): void {
    match(BLANK_LINES);
  }

  /** Skips blanks and a comment. Fails if the line does not end there. */
  function endOfLine(): void {
    match(BLANK);
    match(/#[^\n]*/y);
    if (at < text.length && text[at] !== "\n") fail("there is text after the end of a value");
  }

  function path(): readonly string[] {
    const names: string[] = [];
    do {
      match(BLANK);
      if (text.startsWith('"""', at) || text.startsWith("'''", at)) fail("a key cannot be a multi-line string");
      const name = string() ?? match(BARE_KEY);
      if (name === "") fail("a key was expected");
      names.push(name);
      if (names.length > DEPTH) fail(`a key has more than ${DEPTH} parts`);
    } while (take("."));
    return names;
  }

  function scalar(): string | number | boolean {
    const found = string();
    if (found !== null) return found;
    const word = match(WORD);
    if (word === "true" || word === "false") return word === "true";
    if (DATE.test(word)) fail(`dates and times such as ${word.slice(0, 40)} are not read; write a string`);
    if (NUMBER.test(word) || OTHER_BASE.test(word)) return Number(word.replaceAll("_", ""));
    return fail(word === "" ? "a value was expected" : `"${word.slice(0, 40)}" is no value; write strings in quotes`);
  }

  function value(depth: number): TomlValue {
    if (depth > DEPTH) fail(`values are nested deeper than ${DEPTH} levels`);
    if (take("[")) {
      const items: TomlValue[] = [];
      members("]", () => void items.push(value(depth + 1)));
      return items;
    }
    if (!take("{")) return scalar();
    const table: TomlTable = new Map();
    members("}", () => void pair(table, depth + 1));
    return table;
  }

  /** Reads what is between brackets, separated by commas. */
  function members(closing: string, readMember: () => void): void {
    skipLines();
    while (!take(closing)) {
      readMember();
      skipLines();
      if (!take(",")) {
        need(closing);
        return;
      }
      skipLines();
    }
  }

  /** Returns the first name of the key. */
  function pair(table: TomlTable, depth = 0): string {
    const names = path();
    need("=");
    const holder = descend(table, names.slice(0, -1));
    const name = names.at(-1) ?? "";
    if (holder.has(name)) fail(`the key "${name}" is there twice`);
    holder.set(name, value(depth));
    return names[0] ?? "";
  }

  /** The table at the path; missing ones are made. In a list of tables the path means the last one. */
  function descend(from: TomlTable, names: readonly string[]): TomlTable {
    let table = from;
    for (const name of names) {
      const found: TomlValue | undefined = table.get(name);
      const next = Array.isArray(found) ? (found as readonly TomlValue[]).at(-1) : found;
      if (next !== undefined && !(next instanceof Map)) fail(`"${name}" is there already, and is no table`);
      const inner: TomlTable = next ?? new Map<string, TomlValue>();
      if (next === undefined) table.set(name, inner);
      table = inner;
    }
    return table;
  }

  const top: TomlTable = new Map();
  const fieldLines = new Map<string, number>();
  const declared = new Set<TomlTable>();
  /** Lists of tables. A list that was written as a value is not one, and cannot get more tables. */
  const lists = new Map<TomlValue, TomlTable[]>();

  function openTable(names: readonly string[]): TomlTable {
    const table = descend(top, names);
    if (declared.has(table)) fail(`the table [${names.join(".")}] is there twice`);
    declared.add(table);
    return table;
  }

  function addToList(names: readonly string[]): TomlTable {
    const holder = descend(top, names.slice(0, -1));
    const name = names.at(-1) ?? "";
    const before = holder.get(name);
    const table: TomlTable = new Map();
    if (before === undefined) {
      const list = [table];
      lists.set(list, list);
      holder.set(name, list);
    } else {
      const list = lists.get(before) ?? fail(`"${name}" is there already, and is no list of tables`);
      list.push(table);
    }
    return table;
  }

  let table = top;
  for (skipLines(); at < text.length; skipLines()) {
    const firstLine = line();
    let topKey: string | null = null;
    if (take("[")) {
      const isList = take("[");
      const names = path();
      need("]");
      if (isList) need("]");
      table = isList ? addToList(names) : openTable(names);
      topKey = names[0] ?? "";
    } else {
      const first = pair(table);
      if (table === top) topKey = first;
    }
    endOfLine();
    if (topKey !== null && !fieldLines.has(topKey)) fieldLines.set(topKey, firstLine);
  }
  return [...top].map(([key, found]) => ({ key, value: found, line: fieldLines.get(key) ?? null }));
}
