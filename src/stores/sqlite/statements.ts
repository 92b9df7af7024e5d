/**
 * Statements that are prepared when they are first run, and kept. A store has some fifty; a process that opens one, whether it
 * looks at a single tree or takes up a dead process's work, needs few of them, and preparing all takes longer than the rest of opening.
 */

import type { StatementSync } from "node:sqlite";
import type { Connection } from "./connection.ts";

/** Gives the statement, prepared. */
export type Statement = () => StatementSync;
export type Prepare = (sql: string) => Statement;

export function createPrepare(db: Connection): Prepare {
  return (sql) => {
    let prepared: StatementSync | null = null;
    return () => (prepared ??= db.prepare(sql));
  };
}
