/**
 * Cells: how SQLite stores values, and how rows are read back. Only this file reads a raw cell.
 *
 * Invariants:
 *  1. Values are read back exactly as written. SQLite's TEXT turns a lone surrogate into U+FFFD, so a string that is
 *     not well formed is a BLOB: its UTF-16 and one more byte, whose odd length tells it from the two BLOBs below.
 *  2. A UUID is 16 bytes, and a SHA-256 in base64url is 32; an id or a hash of any other form is text.
 *  3. Equal strings have equal cells, so that a cell can be searched for.
 *  4. A cell of another kind than its column requires is `store-corrupt`.
 */

import { Buffer } from "node:buffer";
import type { SQLInputValue } from "node:sqlite";
import { uuidIs } from "../../core/values/ids.ts";
import { cellCorrupt, numberOf, type Row } from "../cells.ts";
import { createRecords, type Records } from "../records.ts";

export type Cell = SQLInputValue;

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

function bytesOf(row: Row, column: string): Buffer {
  const cell = row?.[column];
  if (!(cell instanceof Uint8Array)) throw cellCorrupt(row, column);
  return Buffer.from(cell.buffer, cell.byteOffset, cell.byteLength);
}

export function textOf(row: Row, column: string): string {
  const cell = row?.[column];
  if (typeof cell === "string") return cell;
  const bytes = bytesOf(row, column);
  if (bytes.length % 2 === 0) throw cellCorrupt(row, column);
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

export const records: Records<Cell> = createRecords<Cell>({
  text: textCell,
  id: idCell,
  flag: Number,
  textOf,
  idOf,
  hashOf,
  flagOf: (row, column) => numberOf(row, column) !== 0,
});
