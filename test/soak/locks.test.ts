/** The lock of a soak is really held, so that a soak that counts locks was disturbed by them. */

import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { createErrand } from "../../src/index.ts";
import { createDatabase } from "../support/postgres/databases.ts";
import { temporaryFolder } from "../support/test-errand.ts";
import { holdLock } from "./locks.ts";

const HELD_MS = 1_500;
const BEGUN_MS = 500;

async function madeStore(store: string): Promise<void> {
  const errand = await createErrand({ store });
  await errand.close();
}

test("SQLite: no other connection can write while the lock is held", async () => {
  const path = join(temporaryFolder(), "errand.db");
  await madeStore(path);
  const other = new DatabaseSync(path, { timeout: 0 });
  onTestFinished(() => other.close());
  const write = (): void => other.exec("begin immediate; rollback");
  const held = holdLock(path, HELD_MS);
  await sleep(BEGUN_MS);
  expect(write).toThrow(/locked/);
  expect(await held).toBe(true);
  expect(write).not.toThrow();
});

test("PostgreSQL: no other session can read or write trees while the lock is held", async () => {
  const { url, drop } = await createDatabase();
  onTestFinished(drop);
  await madeStore(url);
  const other = new Client({ connectionString: url });
  await other.connect();
  onTestFinished(() => other.end());
  await other.query("set lock_timeout = 100");
  const read = (): Promise<unknown> => other.query("select id from errand.trees limit 1");
  const held = holdLock(url, HELD_MS);
  await sleep(BEGUN_MS);
  await expect(read()).rejects.toMatchObject({ code: "55P03" });
  expect(await held).toBe(true);
  await read();
});
