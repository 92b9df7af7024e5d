/** Writing many rows with one statement: an array for each column, which `unnest` turns into a table again. */

import type { Cell } from "./cells.ts";
import type { Statement, Values } from "./database.ts";

/** The types of a statement's columns, by name, in order. */
export type ColumnTypes = Readonly<Record<string, string>>;

/** `unnest(…) with ordinality as given (column, …, place)`. */
export function given(types: ColumnTypes): string {
  const arrays = Object.values(types).map((type, index) => `$${index + 1}::${type}[]`);
  return `unnest(${arrays.join(", ")}) with ordinality as given (${[...Object.keys(types), "place"].join(", ")})`;
}

/** The rows as arrays of columns. */
export function arraysOf(types: ColumnTypes, rows: readonly (readonly Cell[])[]): Values {
  return Object.keys(types).map((_, index) => rows.map((row) => row[index] ?? null));
}

/** An insert of all rows in their order; `conflict` says what happens to those that are there. */
export function insertOf(name: string, table: string, types: ColumnTypes, conflict = ""): Statement {
  const names = Object.keys(types).join(", ");
  const text = `insert into ${table} (${names}) select ${names} from ${given(types)} order by place ${conflict}`;
  return { name: `errand-${name}`, text };
}
