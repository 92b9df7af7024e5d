/**
 * The store in a PostgreSQL database, which any number of processes share: opens it, and composes the port from its
 * parts.
 *
 * Invariants:
 *  1. `own` makes this process a worker: it owns the trees that it creates and claims, and no other. `read` writes
 *     nothing but mail.
 *  2. When opening fails, no connection stays open.
 */

import type { Client } from "pg";
import type { Commit, Store } from "../../contracts/store.ts";
import { refusedWrites } from "../refusals.ts";
import type { TreeId } from "../../core/values/ids.ts";
import type { World } from "../../contracts/world.ts";
import { ErrandError } from "../../errors.ts";
import { treeStatuses } from "../codes.ts";
import { FORMAT_KNOWN } from "../formats.ts";
import { records, textCell } from "./cells.ts";
import { writeCommit } from "./commit.ts";
import {
  type Address,
  addressOf,
  connectFirst,
  createPool,
  DISPATCH_CONNECTIONS,
  STORE_CONNECTIONS,
} from "./connection.ts";
import { createDatabase, type Database } from "./database.ts";
import { startDispatch } from "./dispatch.ts";
import { joinWorkers, type Membership, OWNER_LIVES } from "./membership.ts";
import { createOwnerWrites } from "./owner-writes.ts";
import { openErrorOf } from "./postgres-errors.ts";
import { createPutMail } from "./put-mail.ts";
import { createQueries } from "./queries.ts";
import { createSchema, requireSchema } from "./schema.ts";
import { createWaking, type Waking } from "./waking.ts";

export interface PostgresStoreOptions {
  readonly url: string;
  /** `own`: run trees, beside any number of other workers. `read`: read, and put mail. */
  readonly access: "own" | "read";
  readonly world: World;
  /** The name of this worker for people. */
  readonly name?: string;
}

/** How long a reader waits for a server that went away. A worker waits until it is back. */
const READER_TIMEOUT_MS = 10_000;
const MOST_MAIL_CHECKED = 500;

const CLAIM = {
  name: "errand-claim",
  text: `update errand.trees t set epoch = epoch + 1, owner = $2 where id = any ($1::text[])
         and ${FORMAT_KNOWN} and status <> ${treeStatuses.cell("arriving")}
         and (owner is null or owner = $2 or not ($3::boolean or ${OWNER_LIVES})) returning *`,
};

/** Opens the store, and creates it if `access` is `own` and there is none. Throws an ErrandError when it cannot. */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  const address = addressOf(options.url);
  const { description } = address;
  const session = await connectFirst(address);
  try {
    if (options.access === "own") {
      await createSchema(session, description);
      return await openOwn(session, address, options);
    }
    await requireSchema(session, description);
    await session.end();
    return openRead(address, options.world);
  } catch (error) {
    await session.end();
    throw openErrorOf(error, description);
  }
}

function openRead(address: Address, world: World): Store {
  const { description } = address;
  const pool = createPool(address, STORE_CONNECTIONS);
  const database = createDatabase({ pool, world, description, timeoutMs: READER_TIMEOUT_MS });
  const refuse = async (): Promise<never> => {
    database.live();
    throw new ErrandError(
      "store-read-only",
      `${description} was opened to read and to put mail; only workers write more.`,
      { remedy: "Send the tree mail, or open the store to run trees." },
    );
  };
  return {
    ...sharedParts(database, createWaking(database.ask), null).parts,
    ...refusedWrites(refuse),
    close: createClose(database, null),
  };
}

async function openOwn(session: Client, address: Address, options: PostgresStoreOptions): Promise<Store> {
  const { world, name = "a worker" } = options;
  const { description } = address;
  const membership = await joinWorkers(session, address, world, name);
  const pool = createPool(address, STORE_CONNECTIONS);
  const database = createDatabase({ pool, world, description, timeoutMs: Number.POSITIVE_INFINITY });
  const { worker } = membership;
  const waking = createWaking(database.ask);
  const { parts, treeRecords } = sharedParts(database, waking, worker);
  return {
    ...parts,
    ...createOwnerWrites(database),
    commit: (commit: Commit) => writeCommit(database, worker, commit),
    async claim(ids) {
      const rows = await database.ask(CLAIM, () => [ids.map(textCell), worker, !membership.steady()]);
      const claimed = new Map<TreeId, ReturnType<typeof records.treeOf>>();
      for (const tree of rows.map(records.treeOf)) claimed.set(tree.id, tree);
      return ids.flatMap((id) => claimed.get(id) ?? []);
    },
    shared: {
      now: membership.now,
      alive: membership.known,
      treeRecords,
      releaseOwnership: waking.releaseOwnership,
      onReturn: membership.onReturn,
      dutiesLate: membership.dutiesLate,
      async dispatch(take, onFailure) {
        const own = createPool(address, DISPATCH_CONNECTIONS);
        try {
          const stop = await startDispatch({
            pool: own,
            ask: database.askOnce,
            waking: createWaking(database.askOnce),
            membership,
            world,
            take,
            onFailure,
          });
          return async () => {
            await stop();
            await own.end();
          };
        } catch (error) {
          await own.end();
          throw openErrorOf(error, description);
        }
      },
    },
    close: createClose(database, membership),
  };
}

/** The methods for every process, whether it runs trees or not. */
function sharedParts(database: Database, waking: Waking, worker: number | null) {
  const { pendingArrivals, treeRecords, ...queries } = createQueries(database, worker);
  let seen: ReadonlySet<number> = new Set();
  const parts = {
    description: database.description,
    ...queries,
    onDelay: database.onDelay,
    putMail: createPutMail(database, waking),
    /** Other workers write their own trees. Only new mail concerns this one. */
    async changed() {
      const waiting = await pendingArrivals(MOST_MAIL_CHECKED);
      const differs = waiting.some((arrival) => !seen.has(arrival));
      seen = new Set(waiting);
      return differs;
    },
  };
  return { parts, treeRecords };
}

function createClose(database: Database, membership: Membership | null): () => Promise<void> {
  let closing: Promise<void> | null = null;
  return () => {
    closing ??= database.close().then(() => membership?.close((ask, trees) => createWaking(ask).wakeFree(trees)));
    return closing;
  };
}
