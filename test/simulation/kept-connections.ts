/**
 * Connections to one file that are kept from process to process and from seed to seed, with the statements that were
 * prepared on them: opening one and preparing anew takes a quarter of a seed's time. What a process that was killed
 * leaves behind is the same for the next one, on whichever connection it comes.
 */

import { DatabaseSync, type StatementSync } from "node:sqlite";
import type { Connection } from "../../src/stores/sqlite/connection.ts";

interface Kept {
  readonly database: DatabaseSync;
  readonly statements: Map<string, StatementSync>;
  /** What the connection is set to, by the name of the pragma. */
  readonly pragmas: Map<string, string>;
}

export interface KeptConnections {
  /** A connection of its own until it is closed. */
  take(): Connection;
  /** All of them must have been given back. */
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
        // Whoever is killed does not tidy up, and nobody sees whether a page stands in the log or in the database.
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
