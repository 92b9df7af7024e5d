/**
 * Cells: how values stand in SQLite, and how rows are read back. The only place that looks at a raw cell.
 *
 * Invariants:
 *  1. What is written comes back exactly. SQLite's TEXT turns a lone surrogate into U+FFFD, so a string that is not well formed
 *     stands as a BLOB: its UTF-16 and one more byte, which makes the length odd and tells it from the two BLOBs below.
 *  2. A UUID stands as 16 bytes and a SHA-256 in base64url as 32; an id or a hash of any other form stands as text.
 *  3. Equal strings have equal cells, so that a cell can be searched for.
 *  4. A cell of another kind than its column promises is `store-corrupt`.
 */

import { Buffer } from "node:buffer";
import type { SQLInputValue, SQLOutputValue } from "node:sqlite";
import { uuidIs } from "../../core/ids.ts";
import { ErrandError } from "../../errors.ts";

export type Cell = SQLInputValue;
/** What a statement gives: a row, or undefined where there is none. */
export type Row = Readonly<Record<string, SQLOutputValue>> | undefined;

/** 32 bytes in base64url: 43 characters, of which the last carries four bits. */
const HASH = /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/;

export function textCell(text: string): Cell {
  if (text.isWellFormed()) return text;
  const bytes = Buffer.alloc(text.length * 2 + 1);
  bytes.write(text, "utf16le");
  return bytes;
}

export function idCell(id: string): Cell {
  return uuidIs(id) ? Buffer.from(id.replaceAll("-", ""), "hex") : textCell(id);
}

export function hashCell(hash: string): Cell {
  return HASH.test(hash) ? Buffer.from(hash, "base64url") : textCell(hash);
}

/** Passes null through, for columns that may be empty. */
export function optionalCell<Value>(value: Value | null, cell: (value: Value) => Cell): Cell {
  return value === null ? null : cell(value);
}

function corrupt(row: Row, column: string): ErrandError {
  return new ErrandError(
    "store-corrupt",
    `The store holds ${typeof row?.[column]} where column ${column} promises otherwise.`,
    {
      remedy: "Restore the store from a backup; it was changed by something other than Errand.",
      details: { column },
    },
  );
}

export function numberOf(row: Row, column: string): number {
  const cell = row?.[column];
  if (typeof cell !== "number") throw corrupt(row, column);
  return cell;
}

export function flagOf(row: Row, column: string): boolean {
  return numberOf(row, column) !== 0;
}

function bytesOf(row: Row, column: string): Buffer {
  const cell = row?.[column];
  if (!(cell instanceof Uint8Array)) throw corrupt(row, column);
  return Buffer.from(cell.buffer, cell.byteOffset, cell.byteLength);
}

export function textOf(row: Row, column: string): string {
  const cell = row?.[column];
  if (typeof cell === "string") return cell;
  const bytes = bytesOf(row, column);
  if (bytes.length % 2 === 0) throw corrupt(row, column);
  return bytes.toString("utf16le", 0, bytes.length - 1);
}

export function idOf(row: Row, column: string): string {
  const cell = row?.[column];
  if (!(cell instanceof Uint8Array) || cell.length !== 16) return textOf(row, column);
  const hex = bytesOf(row, column).toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

export function hashOf(row: Row, column: string): string {
  const cell = row?.[column];
  if (!(cell instanceof Uint8Array) || cell.length !== 32) return textOf(row, column);
  return bytesOf(row, column).toString("base64url");
}

export function optionalOf<Value>(row: Row, column: string, read: (row: Row, column: string) => Value): Value | null {
  return row?.[column] === null ? null : read(row, column);
}

export interface Codes<Name extends string> {
  cell(name: Name): number;
  of(row: Row, column: string): Name;
}

/** A literal union as small integers. The codes stand in stored files: they are added to, never changed. */
export function codes<Name extends string>(numbers: Readonly<Record<Name, number>>): Codes<Name> {
  const names = new Map<number, Name>();
  for (const name in numbers) names.set(numbers[name], name);
  return {
    cell: (name) => numbers[name],
    of(row, column) {
      const name = names.get(numberOf(row, column));
      if (name === undefined) throw corrupt(row, column);
      return name;
    },
  };
}
