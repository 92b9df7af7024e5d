/** A connection to the database: its statements, and transactions. */

import type { DatabaseSync, StatementSync } from "node:sqlite";
import { storeErrorOf } from "./sqlite-errors.ts";

export type Connection = Pick<DatabaseSync, "prepare" | "exec" | "isOpen" | "isTransaction" | "close">;

/** Prepares the statement at its first call, because most processes need only a few of the store's statements. */
export type Statement = () => StatementSync;
export type Prepare = (sql: string) => Statement;

/** Each statement is prepared once. */
export function createPrepare(db: Connection): Prepare {
  const prepared = new Map<string, StatementSync>();
  return (sql) => () => {
    const known = prepared.get(sql);
    if (known !== undefined) return known;
    const statement = db.prepare(sql);
    prepared.set(sql, statement);
    return statement;
  };
}

/** All or nothing. When it throws, no transaction is open. */
export type Transaction = <Result>(work: () => Result) => Result;

/**
 * Takes the writer's lock at the start, so that no transaction fails in its middle because another process has the
 * lock.
 */
export function createTransaction(db: Connection, description: string): Transaction {
  const begin = db.prepare("begin immediate");
  const commit = db.prepare("commit");
  return (work) => {
    try {
      begin.run();
      const result = work();
      commit.run();
      return result;
    } catch (error) {
      // SQLite has already rolled back after some errors, a full disk among them.
      if (db.isTransaction) db.exec("rollback");
      throw storeErrorOf(error, description);
    }
  };
}
