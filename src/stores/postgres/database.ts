/**
 * The database as the store's parts use it: statements and transactions over a pool that reconnects.
 *
 * Invariants:
 *  1. While the server cannot be reached, or another session holds a lock, a caller waits, for as long as `patience` says: a restart, a failover
 *     or a VACUUM FULL delays and fails nothing. What periodic duties ask is tried once: they come again by themselves.
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
import { createTroubles, type TroubleListener } from "../troubles.ts";
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

/** What a transaction can ask. Questions that are asked without waiting in between travel together. */
export type Ask = (statement: Statement, values: Values) => Promise<readonly NonNullable<Row>[]>;

export interface Database {
  readonly description: string;
  /** Throws `store-closed` once it is. */
  live(): void;
  /** A statement that may be repeated. Its values are those of its last try, if they are given as a function. */
  ask: (statement: Statement, values: Values | (() => Values)) => ReturnType<Ask>;
  /** A statement that is tried once, for a periodic duty. */
  askOnce: Ask;
  transaction<Result>(work: (ask: Ask) => Promise<Result>): Promise<Result>;
  /** All of it in one transaction, whose COMMIT travels with it: a statement that has to refuse does so by failing. */
  together(asked: readonly Asked[]): Promise<void>;
  /** Told when a lock or a server that is away delays something for long, and when that is over. */
  onDelay(listener: TroubleListener): void;
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
  const troubles = createTroubles(world);

  function live(): void {
    if (closed) throw storeClosed(description);
  }

  /** `what` is the same for work that the same lock would hold up. */
  async function patiently<Result>(what: string, work: () => Promise<Result>, patience = patienceMs): Promise<Result> {
    const began = world.monotonic();
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      live();
      try {
        const result = await work();
        troubles.over(what);
        return result;
      } catch (error) {
        const told = storeErrorOf(error, description);
        if (!connectionLost(error) && !serverBusy(error)) {
          troubles.over(what);
          throw told;
        }
        troubles.met(what, told);
        if (world.monotonic() - began >= patience) throw told;
      }
      await new Promise<void>((resolve) => world.after(pause, resolve));
    }
  }

  async function query(statement: Statement, values: Values): ReturnType<Ask> {
    return rowsOf(await pool.query({ ...statement, values: [...values] }));
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
      if (connectionLost(error) || serverBusy(error)) throw commitUnknown(description, error);
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
    ask: (statement, values) =>
      patiently(statement.name, () => query(statement, typeof values === "function" ? values() : values)),
    askOnce: (statement, values) => patiently(statement.name, () => query(statement, values), 0),
    transaction: (work) => patiently("transaction", () => once(work)),
    together: (asked) => patiently("commit", () => onceTogether(asked)),
    onDelay: troubles.onDelay,
    async close() {
      closed = true;
      troubles.close();
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
