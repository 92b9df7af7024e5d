/** Somebody else who holds the write lock of the store: a database browser, a migration. */

import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";

/** Holds it for so long. False if it could not be had. */
export function holdLock(store: string, milliseconds: number): Promise<boolean> {
  return store.startsWith("postgres:") ? holdTables(store, milliseconds) : holdFile(store, milliseconds);
}

const TRIES = 200;
const TRY_MS = 10;

async function holdFile(path: string, milliseconds: number): Promise<boolean> {
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    for (let tries = 0; !begun(database); tries += 1) {
      if (tries === TRIES) return false;
      await sleep(TRY_MS);
    }
    await sleep(milliseconds);
    database.exec("rollback");
    return true;
  } finally {
    database.close();
  }
}

function begun(database: DatabaseSync): boolean {
  try {
    database.exec("begin immediate");
    return true;
  } catch (error) {
    if (error instanceof Error && /locked|busy/.test(error.message)) return false;
    throw error;
  }
}

async function holdTables(url: string, milliseconds: number): Promise<boolean> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query("begin");
    await client.query("lock table errand.trees in access exclusive mode");
    await sleep(milliseconds);
    await client.query("rollback");
    return true;
  } finally {
    await client.end();
  }
}
