/**
 * The database for the parts of the store: statements and transactions over a pool that reconnects.
 *
 * Invariants:
 *  1. While the server cannot be reached, or another session holds a lock, a caller waits until its timeout. So a
 *     restart, a failover or a VACUUM FULL delays work and fails none. Statements of periodic duties are tried once,
 *     because the duty runs again.
 *  2. After a lost connection only work is repeated that was not stored, or is harmless to repeat. A transaction is
 *     repeated only if its COMMIT was not sent; after that its outcome is `commit-unknown`. A COMMIT that is sent
 *     together with the statements counts as sent once the transaction has begun.
 *  3. A statement is prepared once for each connection, under its name.
 */

import type { ClientBase, Pool, PoolClient } from "pg";
import type { World } from "../../contracts/world.ts";
import { ErrandError } from "../../errors.ts";
import { storeClosed } from "../refusals.ts";
import type { Row } from "../cells.ts";
import type { Cell } from "./cells.ts";
import { createRetry, type DelayListener } from "../retry.ts";
import { commitUnknown, connectionLost, serverBusy, storeErrorOf } from "./postgres-errors.ts";

export interface Statement {
  readonly name: string;
  readonly text: string;
}

export type Value = Cell | readonly Cell[] | Buffer;
export type Values = readonly Value[];

/** A statement with its values. */
export interface Asked {
  readonly statement: Statement;
  readonly values: Values;
}

/** Runs a statement. Statements that do not wait for each other are sent together. */
export type Ask = (statement: Statement, values: Values) => Promise<readonly NonNullable<Row>[]>;

export interface Database {
  readonly description: string;
  /** Throws `store-closed` once it is. */
  live(): void;
  /** A statement that may be repeated. If its values are a function, each try calls it. */
  ask: (statement: Statement, values: Values | (() => Values)) => ReturnType<Ask>;
  /** A statement that is tried once, for a periodic duty. */
  askOnce: Ask;
  transaction<Result>(work: (ask: Ask) => Promise<Result>): Promise<Result>;
  /** One transaction whose COMMIT is sent together with the statements. A statement refuses by failing. */
  together(asked: readonly Asked[]): Promise<void>;
  onDelay(listener: DelayListener): void;
  close(): Promise<void>;
}

export interface DatabaseParts {
  readonly pool: Pool;
  readonly world: World;
  readonly description: string;
  /** How long a caller waits for a server that cannot be reached. */
  readonly timeoutMs: number;
}

const BEGIN: Statement = { name: "errand-begin", text: "begin" };

export function createDatabase({ pool, world, description, timeoutMs }: DatabaseParts): Database {
  let closed = false;
  const retry = createRetry(world, {
    firstPauseMs: 50,
    longestPauseMs: 1_000,
    timeoutMs,
    oneAtATime: false,
    judge: (thrown) => ({
      error: storeErrorOf(thrown, description),
      temporary: connectionLost(thrown) || serverBusy(thrown),
    }),
  });

  function live(): void {
    if (closed) throw storeClosed(description);
  }

  async function query(statement: Statement, values: Values): ReturnType<Ask> {
    live();
    return rowsOf(await pool.query({ ...statement, values: [...values] }));
  }

  async function runTransaction<Result>(work: (ask: Ask) => Promise<Result>): Promise<Result> {
    live();
    const client = await pool.connect();
    const ask = askOf(client);
    let lost: unknown;
    try {
      // The pipeline keeps the order, so that the first statement need not wait for BEGIN.
      const begun = client.query("begin");
      const worked = work(ask);
      await settled<unknown>([begun, worked]);
      const result = await worked;
      await commit(client);
      return result;
    } catch (error) {
      if (connectionLost(error)) lost = error;
      else await client.query("rollback").catch((failure: unknown) => (lost = failure));
      throw error;
    } finally {
      client.release(lost !== undefined);
    }
  }

  async function commit(client: PoolClient): Promise<void> {
    let command: string;
    try {
      ({ command } = await client.query("commit"));
    } catch (error) {
      if (connectionLost(error) || serverBusy(error)) throw commitUnknown(description, error);
      throw error;
    }
    // The COMMIT of a failed transaction rolls it back.
    if (command === "COMMIT") return;
    throw new ErrandError("store-failed", `${description} answered ${command} to a commit.`, {
      remedy: "Nothing of the commit was stored. Check the server's log.",
    });
  }

  async function sendTogether(asked: readonly Asked[]): Promise<void> {
    live();
    const client = await pool.connect();
    const ask = askOf(client);
    let begun = false;
    let lost = false;
    try {
      // Wait for BEGIN: if it failed alone, each statement after it would be its own transaction.
      await ask(BEGIN, []);
      begun = true;
      await settled<unknown>([...asked.map(({ statement, values }) => ask(statement, values)), commit(client)]);
    } catch (error) {
      lost = connectionLost(error) || (error instanceof ErrandError && error.code === "commit-unknown");
      throw begun && connectionLost(error) ? commitUnknown(description, error) : error;
    } finally {
      client.release(lost);
    }
  }

  return {
    description,
    live,
    ask: (statement, values) =>
      retry.run(statement.name, () => query(statement, typeof values === "function" ? values() : values)),
    askOnce: (statement, values) => retry.run(statement.name, () => query(statement, values), 0),
    transaction: (work) => retry.run("transaction", () => runTransaction(work)),
    together: (asked) => retry.run("commit", () => sendTogether(asked)),
    onDelay: retry.onDelay,
    async close() {
      closed = true;
      retry.close();
      await pool.end();
    },
  };
}

export function askOf(client: ClientBase): Ask {
  return async (statement, values) => rowsOf(await client.query({ ...statement, values: [...values] }));
}

function rowsOf({ rows }: { readonly rows: unknown[] }): readonly NonNullable<Row>[] {
  return rows as NonNullable<Row>[];
}

/** All results, or the first failure, after all have ended: a client is not released while it has open queries. */
export async function settled<Result>(promises: readonly Promise<Result>[]): Promise<Result[]> {
  const results: Result[] = [];
  for (const result of await Promise.allSettled(promises)) {
    if (result.status === "rejected") throw result.reason;
    results.push(result.value);
  }
  return results;
}
