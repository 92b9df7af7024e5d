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
import { createTomlScanner, type TomlScanner, TomlError } from "./toml-scanner.ts";

export type TomlTable = Map<string, TomlValue>;
export type TomlValue = string | number | boolean | readonly TomlValue[] | TomlTable;

const DEPTH = 32;
const LENGTH = 64 * 1024;

/** The top-level keys, in order. */
export function readToml(text: string): readonly Field[] | Problem {
  if (text.length > LENGTH) return { problem: `it is longer than ${LENGTH} characters`, line: null };
  const scanner = createTomlScanner(text.replaceAll("\r\n", "\n").replace(/^\uFEFF/, ""));
  const lines = new Map<string, number>();
  try {
    const top = readDocument(scanner, lines);
    return [...top].map(([key, value]) => ({ key, value, line: lines.get(key) ?? null }));
  } catch (error) {
    if (error instanceof TomlError)
      return { problem: `it is not the TOML that is supported here: ${error.message}`, line: error.line };
    throw error;
  }
}

function readDocument(scanner: TomlScanner, lines: Map<string, number>): TomlTable {
  const top: TomlTable = new Map();
  const declared = new Set<TomlTable>();
  const lists = new Map<TomlValue, TomlTable[]>();
  let table = top;
  for (;;) {
    scanner.skipLines();
    if (scanner.done()) return top;
    const line = scanner.line();
    if (!scanner.take("[")) {
      const first = readPair(scanner, table);
      if (table === top && !lines.has(first)) lines.set(first, line);
      scanner.endOfLine();
      continue;
    }
    const list = scanner.take("[");
    const path = readPath(scanner);
    scanner.need("]");
    if (list) scanner.need("]");
    scanner.endOfLine();
    const [first = ""] = path;
    if (!lines.has(first)) lines.set(first, line);
    const holder = descend(scanner, top, path.slice(0, -1));
    table = list ? addToList(scanner, holder, path, lists) : openTable(scanner, holder, path, declared);
  }
}

function openTable(
  scanner: TomlScanner,
  holder: TomlTable,
  path: readonly string[],
  declared: Set<TomlTable>,
): TomlTable {
  const table = descend(scanner, holder, path.slice(-1));
  if (declared.has(table)) scanner.fail(`the table [${path.join(".")}] is there twice`);
  declared.add(table);
  return table;
}

/** Adds a table to a list of tables. A list that was written as a value cannot get more. */
function addToList(
  scanner: TomlScanner,
  holder: TomlTable,
  path: readonly string[],
  lists: Map<TomlValue, TomlTable[]>,
): TomlTable {
  const name = path.at(-1) ?? "";
  const before = holder.get(name);
  const table: TomlTable = new Map();
  if (before === undefined) {
    const made = [table];
    lists.set(made, made);
    holder.set(name, made);
  } else {
    const list = lists.get(before) ?? scanner.fail(`"${name}" is there already, and is no list of tables`);
    list.push(table);
  }
  return table;
}

/** The table at the path; missing ones are made. In a list of tables the path means the last one. */
function descend(scanner: TomlScanner, from: TomlTable, path: readonly string[]): TomlTable {
  let table = from;
  for (const name of path) {
    const found: TomlValue | undefined = table.get(name);
    const next = Array.isArray(found) ? (found as readonly TomlValue[]).at(-1) : found;
    if (next === undefined) {
      const made: TomlTable = new Map();
      table.set(name, made);
      table = made;
    } else if (next instanceof Map) {
      table = next;
    } else {
      scanner.fail(`"${name}" is there already, and is no table`);
    }
  }
  return table;
}

/** Returns the first name of the key. */
function readPair(scanner: TomlScanner, table: TomlTable, depth = 0): string {
  const path = readPath(scanner);
  scanner.need("=");
  const holder = descend(scanner, table, path.slice(0, -1));
  const name = path.at(-1) ?? "";
  if (holder.has(name)) scanner.fail(`the key "${name}" is there twice`);
  holder.set(name, readValue(scanner, depth));
  return path[0] ?? "";
}

function readPath(scanner: TomlScanner): readonly string[] {
  const path: string[] = [];
  do {
    path.push(scanner.key());
    if (path.length > DEPTH) scanner.fail(`a key has more than ${DEPTH} parts`);
  } while (scanner.take("."));
  return path;
}

function readValue(scanner: TomlScanner, depth: number): TomlValue {
  if (depth > DEPTH) scanner.fail(`values are nested deeper than ${DEPTH} levels`);
  if (scanner.take("[")) return readList(scanner, depth);
  if (!scanner.take("{")) return scanner.scalar();
  const table: TomlTable = new Map();
  scanner.skipLines();
  while (!scanner.take("}")) {
    readPair(scanner, table, depth + 1);
    scanner.skipLines();
    if (!scanner.take(",")) {
      scanner.need("}");
      break;
    }
    scanner.skipLines();
  }
  return table;
}

function readList(scanner: TomlScanner, depth: number): readonly TomlValue[] {
  const items: TomlValue[] = [];
  scanner.skipLines();
  while (!scanner.take("]")) {
    items.push(readValue(scanner, depth + 1));
    scanner.skipLines();
    if (!scanner.take(",")) {
      scanner.need("]");
      break;
    }
    scanner.skipLines();
  }
  return items;
}
