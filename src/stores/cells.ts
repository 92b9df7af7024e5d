/**
 * Cells that are the same in every database: numbers, and columns that may be empty. Each database stores strings in
 * its own way.
 *
 * Invariant: a cell of another kind than its column requires is `store-corrupt`.
 */

import { ErrandError } from "../errors.ts";

/** A row that a statement returned, or undefined if there is none. */
export type Row = Readonly<Record<string, unknown>> | undefined;

/** Passes null through, for columns that may be empty. */
export function optionalCell<Value, Cell>(value: Value | null, cell: (value: Value) => Cell): Cell | null {
  return value === null ? null : cell(value);
}

export function cellCorrupt(row: Row, column: string): ErrandError {
  return new ErrandError(
    "store-corrupt",
    `The store contains ${typeof row?.[column]} in column ${column}, which requires another type.`,
    {
      remedy: "Restore the store from a backup; something other than Errand changed it.",
      details: { column },
    },
  );
}

export function numberOf(row: Row, column: string): number {
  const cell = row?.[column];
  if (typeof cell !== "number") throw cellCorrupt(row, column);
  return cell;
}

export function optionalOf<Value>(row: Row, column: string, read: (row: Row, column: string) => Value): Value | null {
  return row?.[column] === null ? null : read(row, column);
}

export function found<Value>(row: Row, read: (row: Row) => Value): Value | null {
  return row === undefined ? null : read(row);
}

/** Sorted by a text, in an order that does not depend on the database. */
export function inOrder<Item>(items: readonly Item[], text: (item: Item) => string): Item[] {
  return items.toSorted((one, other) => (text(one) < text(other) ? -1 : 1));
}
