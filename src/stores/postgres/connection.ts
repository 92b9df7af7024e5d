/**
 * Connections: the address in a URL, the settings of every session, and how values are read.
 *
 * Invariants:
 *  1. Every connection has timeouts for locks, statements and open transactions, and waits for its commits to be
 *     durable, whatever the server's defaults are.
 *  2. No message contains the password of a URL.
 *  3. A connection that fails while it is idle is replaced silently. A query on a failed connection reports the
 *     failure.
 */

import { Socket } from "node:net";
import { Client, type ClientConfig, Pool, TypeOverrides } from "pg";
import { ErrandError } from "../../errors.ts";
import { openErrorOf, passwordMissing } from "./postgres-errors.ts";

const CONNECT_WITHIN_MS = 10_000;
const STATEMENT_WITHIN_MS = 30_000;
/**
 * How long a statement waits for a lock before it releases its connection and is tried again. Together with `SILENT_MS`
 * of membership.ts it is less than the lease: a statement that a living worker sent is not answered after others may
 * have taken the worker for dead.
 */
const LOCK_WITHIN_MS = 2_000;
/** Opening a store is tried once, so it waits longer. */
const OPENING_LOCK_WITHIN_MS = 10_000;
/** Shorter than the lease: a process that hangs in a commit must not block the worker that takes its trees over. */
const IDLE_TRANSACTION_MS = 5_000;
/** A server that was cut off does not answer: waiting ends a little after the server's own timeout. */
const ANSWER_WITHIN_MS = STATEMENT_WITHIN_MS + 5_000;
/** Connections of one process: these, one for its membership, and those of the dispatcher; ten together. */
export const STORE_CONNECTIONS = 5;
export const DISPATCH_CONNECTIONS = 4;
const OLDEST_POSTGRES = 130_000;

const SESSION = `
  set statement_timeout = ${STATEMENT_WITHIN_MS};
  set lock_timeout = ${LOCK_WITHIN_MS};
  set idle_in_transaction_session_timeout = ${IDLE_TRANSACTION_MS};
  set client_min_messages = warning;
  select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') in ('off', 'local');
`;

/**
 * How the store's statements are planned. Each finds its rows by keys with an index. Its plan is made once for a
 * session, perhaps while the tables are empty, and must suit full tables. So it is generic, uses the indexes, and is
 * not compiled.
 */
const PLANS = `
  set plan_cache_mode = force_generic_plan;
  set enable_seqscan = off;
  set enable_hashjoin = off;
  set enable_mergejoin = off;
  set jit = off;
`;

export interface Address {
  readonly description: string;
  readonly config: ClientConfig;
}

export function addressOf(url: string): Address {
  const read = URL.parse(url);
  if (read === null || read.hostname === "" || !/^postgres(ql)?:$/.test(read.protocol)) {
    throw new ErrandError("usage", "The URL of the database cannot be read.", {
      remedy: "It looks like postgres://user:password@host:5432/database",
    });
  }
  const database = decodeURIComponent(read.pathname.slice(1));
  if (database === "") {
    throw new ErrandError("usage", "The URL of the database names no database.", {
      remedy: "It looks like postgres://user:password@host:5432/database",
    });
  }
  return {
    description: `The PostgreSQL store ${read.hostname}:${read.port === "" ? "5432" : read.port}/${database}`,
    config: {
      connectionString: url,
      application_name: "errand",
      connectionTimeoutMillis: CONNECT_WITHIN_MS,
      query_timeout: ANSWER_WITHIN_MS,
      keepAlive: true,
      types: numbersPlain(),
    },
  };
}

const INT8 = 20;

/** 64-bit integers are read as numbers: sequences, times and amounts are far below 2^53. */
function numbersPlain(): TypeOverrides {
  const types = new TypeOverrides();
  types.setTypeParser(INT8, Number);
  return types;
}

function ignoreError(): void {
  // The running query reports it; an idle connection leaves the pool.
}

/** A socket that sends all writes of one tick together: ten statements are one packet, which wakes the server once. */
class TickSocket extends Socket {
  #held = false;

  override cork(): void {
    if (this.#held) return;
    this.#held = true;
    super.cork();
    process.nextTick(() => {
      this.#held = false;
      super.uncork();
    });
  }

  override uncork(): void {
    // At the end of the tick.
  }
}

export function createPool({ config }: Address, size: number): Pool {
  const own = size === STORE_CONNECTIONS;
  const session = own ? SESSION + PLANS : SESSION;
  const pool = new Pool({
    ...config,
    max: size,
    pipeline: own,
    stream: () => new TickSocket(),
    verify: (client, done) => client.query(session, (error) => done(error)),
  });
  pool.on("connect", (client) => client.on("error", ignoreError));
  pool.on("error", ignoreError);
  return pool;
}

/** A connection outside the pool, for what belongs to one session. */
export async function connectSession({ config, description }: Address, lockWithinMs = LOCK_WITHIN_MS): Promise<Client> {
  const client = new Client(config);
  client.on("error", ignoreError);
  let passwordAsked = false;
  client.connection.once("authenticationSASL", () => (passwordAsked = true));
  try {
    await client.connect();
    await client.query(SESSION);
    if (lockWithinMs !== LOCK_WITHIN_MS) await client.query(`set lock_timeout = ${lockWithinMs}`);
    return client;
  } catch (error) {
    await client.end();
    if (passwordAsked && !client.password) throw passwordMissing(description, error);
    throw error;
  }
}

/** Once the store is open, the first connection waits for locks as long as the others. */
export async function endOpening(client: Client): Promise<void> {
  await client.query(`set lock_timeout = ${LOCK_WITHIN_MS}`);
}

/** Opens the first connection. Its errors say what a person can do. */
export async function connectFirst(address: Address): Promise<Client> {
  try {
    const client = await connectSession(address, OPENING_LOCK_WITHIN_MS);
    const { rows } = await client.query<{ number: string; name: string }>(
      "select current_setting('server_version_num') as number, current_setting('server_version') as name",
    );
    if (Number(rows[0]?.number) >= OLDEST_POSTGRES) return client;
    await client.end();
    throw new ErrandError("store-unreadable", `${address.description} runs PostgreSQL ${rows[0]?.name}.`, {
      remedy: `Errand needs ${OLDEST_POSTGRES / 10_000} or newer.`,
    });
  } catch (error) {
    throw openErrorOf(error, address.description);
  }
}
