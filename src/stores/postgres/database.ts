/**
 * The database as the store's parts use it: statements and transactions over a pool that reconnects.
 *
 * Invariants:
 *  1. While the server cannot be reached a caller waits, for as long as `patience` says: a restart or a failover delays and fails nothing.
 *  2. What is repeated after a lost connection was not kept, or is harmless to repeat. A transaction is repeated only if its COMMIT was
 *     never sent; once it was, its outcome is `commit-unknown`. Where the COMMIT travels with the rest, that is as soon as it has begun.
 *  3. A statement is prepared once for each connection, under its name.
 */

import type { ClientBase, Pool, PoolClient } from "pg";
import type { World } from "../../contracts/world.ts";
import { ErrandError } from "../../errors.ts";
import { storeClosed } from "../refusals.ts";
import type { Row } from "../cells.ts";
import type { Cell } from "./cells.ts";
import { commitUnknown, connectionLost, storeErrorOf } from "./postgres-errors.ts";

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

/** What a transaction can ask. Questions that are asked without waiting in between travel together. */
export type Ask = (statement: Statement, values: Values) => Promise<readonly NonNullable<Row>[]>;

export interface Database {
  readonly description: string;
  /** Throws `store-closed` once it is. */
  live(): void;
  /** A statement that may be repeated. */
  ask: Ask;
  transaction<Result>(work: (ask: Ask) => Promise<Result>): Promise<Result>;
  /** All of it in one transaction, whose COMMIT travels with it: a statement that has to refuse does so by failing. */
  together(asked: readonly Asked[]): Promise<void>;
  close(): Promise<void>;
}

export interface DatabaseParts {
  readonly pool: Pool;
  readonly world: World;
  readonly description: string;
  /** How long a caller waits for a server that cannot be reached. */
  readonly patienceMs: number;
}

const BEGIN: Statement = { name: "errand-begin", text: "begin" };
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1_000;

export function createDatabase({ pool, world, description, patienceMs }: DatabaseParts): Database {
  let closed = false;

  function live(): void {
    if (closed) throw storeClosed(description);
  }

  async function patiently<Result>(work: () => Promise<Result>): Promise<Result> {
    const began = world.monotonic();
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      live();
      try {
        return await work();
      } catch (error) {
        const waited = world.monotonic() - began;
        if (!connectionLost(error) || waited >= patienceMs) throw storeErrorOf(error, description);
      }
      await new Promise<void>((resolve) => world.after(pause, resolve));
    }
  }

  async function once<Result>(work: (ask: Ask) => Promise<Result>): Promise<Result> {
    const client = await pool.connect();
    const ask = askOf(client);
    let lost: unknown;
    try {
      // The pipeline keeps the order, so that the first statement need not wait for it.
      const begun = client.query("begin");
      const asked = work(ask);
      await settled<unknown>([begun, asked]);
      const result = await asked;
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
      if (connectionLost(error)) throw commitUnknown(description, error);
      throw error;
    }
    // A transaction that failed is rolled back by its COMMIT.
    if (command !== "COMMIT") throw new Error(`the server answered ${command} to a commit`);
  }

  async function onceTogether(asked: readonly Asked[]): Promise<void> {
    const client = await pool.connect();
    const ask = askOf(client);
    let begun = false;
    let lost = false;
    try {
      // Waited for: were it to fail alone, what follows would be so many transactions of one statement.
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
    ask: (statement, values) => patiently(async () => rowsOf(await pool.query({ ...statement, values: [...values] }))),
    transaction: (work) => patiently(() => once(work)),
    together: (asked) => patiently(() => onceTogether(asked)),
    async close() {
      closed = true;
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

/** All results, or the first failure once none is under way any more: a client is not let go with questions open. */
export async function settled<Result>(promises: readonly Promise<Result>[]): Promise<Result[]> {
  const results: Result[] = [];
  for (const result of await Promise.allSettled(promises)) {
    if (result.status === "rejected") throw result.reason;
    results.push(result.value);
  }
  return results;
}
