/**
 * Cells as every database has them: rows as they were read, numbers, codes, and what may be empty. What a string looks like in a cell
 * is each database's own business.
 *
 * Invariant: a cell of another kind than its column promises is `store-corrupt`.
 */

import { ErrandError } from "../errors.ts";

/** What a statement gives: a row, or undefined where there is none. */
export type Row = Readonly<Record<string, unknown>> | undefined;

/** Passes null through, for columns that may be empty. */
export function optionalCell<Value, Cell>(value: Value | null, cell: (value: Value) => Cell): Cell | null {
  return value === null ? null : cell(value);
}

export function cellCorrupt(row: Row, column: string): ErrandError {
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
  if (typeof cell !== "number") throw cellCorrupt(row, column);
  return cell;
}

export function optionalOf<Value>(row: Row, column: string, read: (row: Row, column: string) => Value): Value | null {
  return row?.[column] === null ? null : read(row, column);
}

export function found<Value>(row: Row, read: (row: Row) => Value): Value | null {
  return row === undefined ? null : read(row);
}

/** By a text, in an order that is the same whatever the database sorts by. */
export function inOrder<Item>(items: readonly Item[], text: (item: Item) => string): Item[] {
  return items.toSorted((one, other) => (text(one) < text(other) ? -1 : 1));
}
