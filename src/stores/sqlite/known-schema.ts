/**
 * Whether a database has exactly the tables and indexes that Errand makes. One that came from elsewhere may hold
 * views and triggers that do any amount of work.
 */

import { DatabaseSync } from "node:sqlite";
import type { Connection } from "./connection.ts";
import { SCHEMA } from "./schema.ts";

/** True if the database has the tables and indexes of a store and nothing else. Only its list of tables is read. */
export function schemaIsKnown(db: Connection): boolean {
  const reference = new DatabaseSync(":memory:");
  try {
    reference.exec(SCHEMA);
    return schemaText(db) === schemaText(reference);
  } finally {
    reference.close();
  }
}

function schemaText(db: Connection): string {
  const all = db
    .prepare("select type, name, tbl_name, sql from sqlite_schema order by type, name, tbl_name, sql")
    .all();
  return JSON.stringify(all);
}
