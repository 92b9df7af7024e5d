/**
 * Transactions: all or nothing, and the lock of a writer taken at the start, so that none fails halfway for want of it.
 *
 * Invariant: when it throws, no transaction is open.
 */

import type { Connection } from "./connection.ts";
import { storeErrorOf } from "./sqlite-errors.ts";

export type Transaction = <Result>(work: () => Result) => Result;

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
