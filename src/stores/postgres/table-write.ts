/**
 * Writing many rows with one statement: one array for each column, which `unnest` turns into a table.
 *
 * Arrays of texts are sent in PostgreSQL's binary form: bodies are JSON, and in the text form each quote would be
 * escaped.
 */

import type { Cell } from "./cells.ts";
import type { Asked, Statement, Value, Values } from "./database.ts";

/** The types of a statement's columns, by name, in order. */
export type ColumnTypes = Readonly<Record<string, string>>;

/** `unnest(…) with ordinality as given (column, …, place)`. */
export function given(types: ColumnTypes): string {
  const arrays = Object.values(types).map((type, index) => `$${index + 1}::${type}[]`);
  return `unnest(${arrays.join(", ")}) with ordinality as given (${[...Object.keys(types), "place"].join(", ")})`;
}

/** The rows as arrays of columns. */
export function arraysOf(types: ColumnTypes, rows: readonly (readonly Cell[])[]): Values {
  return Object.values(types).map((type, index) => {
    const cells = rows.map((row) => row[index] ?? null);
    return type === "text" ? textArray(cells) : plainArray(cells);
  });
}

/** The statement for these rows, if there are any. */
export function askedOf(
  statement: Statement,
  types: ColumnTypes,
  rows: readonly (readonly Cell[])[],
): readonly Asked[] {
  return rows.length === 0 ? [] : [{ statement, values: arraysOf(types, rows) }];
}

/** An insert of all rows in their order; `conflict` says what to do with rows that exist. */
export function insertOf(name: string, table: string, types: ColumnTypes, conflict = ""): Statement {
  const names = Object.keys(types).join(", ");
  const text = `insert into ${table} (${names}) select ${names} from ${given(types)} order by place ${conflict}`;
  return { name: `errand-${name}`, text };
}

/** Like `insertOf`, for rows whose first column is the tree's id. The table has the tree's key instead. */
export function insertOfTree(name: string, table: string, types: ColumnTypes, conflict = ""): Statement {
  const [, ...names] = Object.keys(types);
  const cells = names.map((column) => `given.${column}`);
  const text = `insert into ${table} (tree, ${names.join(", ")}) select t.key, ${cells.join(", ")}
    from ${given(types)} join errand.trees t on t.id = given.tree order by place ${conflict}`;
  return { name: `errand-${name}`, text };
}

/** A change that must find every given row. Otherwise the server refuses it under this name. */
export function allOrRefused(change: string, refusal: string): string {
  return `with done as (${change} returning 1)
    select errand.require((select count(*) from done), cardinality($1::text[]), '${refusal}')`;
}

/** Numbers and flags need no escaping. */
function plainArray(cells: readonly Cell[]): string {
  return `{${cells.map((cell) => cell ?? "NULL").join(",")}}`;
}

const TEXT_OID = 25;
const HEADER_BYTES = 20;
const LENGTH_BYTES = 4;
const NULL_LENGTH = -1;

function textArray(cells: readonly Cell[]): Value {
  if (cells.length === 0) return "{}";
  const texts = cells.map((cell) => (cell === null ? null : String(cell)));
  const lengths = texts.map((text) => (text === null ? NULL_LENGTH : Buffer.byteLength(text)));
  const bytes = lengths.reduce((sum, length) => sum + LENGTH_BYTES + Math.max(0, length), HEADER_BYTES);
  const buffer = Buffer.allocUnsafe(bytes);
  // Dimensions, whether there are nulls, the type; then the length of the one dimension, and its first index.
  let at = 0;
  for (const number of [1, lengths.includes(NULL_LENGTH) ? 1 : 0, TEXT_OID, cells.length, 1]) {
    at = buffer.writeInt32BE(number, at);
  }
  for (const [index, text] of texts.entries()) {
    at = buffer.writeInt32BE(lengths[index] ?? NULL_LENGTH, at);
    if (text !== null) at += buffer.write(text, at, "utf8");
  }
  return buffer;
}
