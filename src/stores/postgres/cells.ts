/**
 * Cells: how PostgreSQL stores strings. Only this file reads a raw cell.
 *
 * Invariants:
 *  1. Values are read back exactly as written. PostgreSQL's text cannot contain NUL, nor UTF-8 a lone surrogate; a
 *     string with one is stored as a mark and its JSON, where both are escapes. So is a string that begins with the
 *     mark.
 *  2. Equal strings have equal cells, so that a cell can be searched for.
 */

import { cellCorrupt, type Row } from "../cells.ts";
import { createRecords, type Records } from "../records.ts";

/** A value that `pg` can send: the cell of a column, or an array of them for `unnest`. */
export type Cell = string | number | boolean | null;

const MARK = "\u0001";

export function textCell(text: string): string {
  const plain = text.isWellFormed() && !text.includes("\0") && !text.startsWith(MARK);
  return plain ? text : MARK + JSON.stringify(text);
}

export function textOf(row: Row, column: string): string {
  const cell = row?.[column];
  if (typeof cell !== "string") throw cellCorrupt(row, column);
  if (!cell.startsWith(MARK)) return cell;
  try {
    const text: unknown = JSON.parse(cell.slice(MARK.length));
    if (typeof text === "string") return text;
  } catch {
    // Thrown below.
  }
  throw cellCorrupt(row, column);
}

function flagOf(row: Row, column: string): boolean {
  const cell = row?.[column];
  if (typeof cell !== "boolean") throw cellCorrupt(row, column);
  return cell;
}

export const records: Records<Cell> = createRecords<Cell>({
  text: textCell,
  id: textCell,
  flag: (flag) => flag,
  textOf,
  idOf: textOf,
  hashOf: textOf,
  flagOf,
});
