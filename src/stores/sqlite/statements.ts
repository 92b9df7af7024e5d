/**
 * Statements that are prepared when they are first run, and kept. A store has some fifty; a process that opens one, whether it
 * looks at a single tree or takes up a dead process's work, needs few of them, and preparing all takes longer than the rest of opening.
 */

import type { DatabaseSync, StatementSync } from "node:sqlite";

export type Statement = Pick<StatementSync, "get" | "all" | "run">;

export interface Statements {
  prepare(sql: string): Statement;
}

export function createStatements(db: DatabaseSync): Statements {
  return {
    prepare(sql) {
      let prepared: StatementSync | null = null;
      const statement = (): StatementSync => (prepared ??= db.prepare(sql));
      return {
        get get() {
          return statement().get.bind(statement());
        },
        get all() {
          return statement().all.bind(statement());
        },
        get run() {
          return statement().run.bind(statement());
        },
      };
    },
  };
}
