/**
 * Connections to one file that are reused across processes and seeds with their prepared statements, because opening
 * and preparing take a quarter of a seed's time. The next process finds the same state of a killed one on any
 * connection.
 */

import { DatabaseSync, type StatementSync } from "node:sqlite";
import type { Connection } from "../../src/stores/sqlite/connection.ts";

interface Kept {
  readonly database: DatabaseSync;
  readonly statements: Map<string, StatementSync>;
  /** The connection's settings, by the name of the pragma. */
  readonly pragmas: Map<string, string>;
}

export interface KeptConnections {
  /** A connection for one user until it is closed. */
  take(): Connection;
  /** All connections must have been returned. */
  close(): void;
}

const PRAGMA = /^pragma (\w+) = [^;]*$/;

export function keepConnections(path: string): KeptConnections {
  const free: Kept[] = [];

  function connectionOf(kept: Kept): Connection {
    const { database, statements, pragmas } = kept;
    let open = true;
    return {
      get isOpen() {
        return open;
      },
      get isTransaction() {
        return database.isTransaction;
      },
      prepare(sql) {
        const statement = statements.get(sql) ?? database.prepare(sql);
        statements.set(sql, statement);
        return statement;
      },
      exec(sql) {
        // A killed process does not clean up, and no reader sees whether a page is in the log or in the database.
        if (sql.includes("wal_checkpoint(")) return;
        const [, pragma] = PRAGMA.exec(sql) ?? [];
        if (pragma !== undefined && pragmas.get(pragma) === sql) return;
        database.exec(sql);
        if (pragma !== undefined) pragmas.set(pragma, sql);
      },
      close() {
        open = false;
        free.push(kept);
      },
    };
  }

  return {
    take: () =>
      connectionOf(free.pop() ?? { database: new DatabaseSync(path), statements: new Map(), pragmas: new Map() }),
    close() {
      for (const { database } of free.splice(0)) database.close();
    },
  };
}
