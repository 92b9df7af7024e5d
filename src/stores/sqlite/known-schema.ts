/**
 * Whether a database has exactly the tables and indexes that Errand makes. One that came from elsewhere may hold
 * views and triggers that do any amount of work.
 */

import { DatabaseSync } from "node:sqlite";
import type { Connection } from "./connection.ts";
import { MIGRATIONS } from "./schema.ts";

/**
 * True if it has what the first so many migrations make, and nothing else. Of the database only its list of tables is
 * read.
 */
export function schemaIsKnown(db: Connection, version: number): boolean {
  const reference = new DatabaseSync(":memory:");
  try {
    for (const sql of MIGRATIONS.slice(0, version)) reference.exec(sql);
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
