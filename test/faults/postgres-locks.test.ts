/**
 * Tables of a PostgreSQL store that somebody locks for longer than any time-out: VACUUM FULL, ALTER TABLE, an open
 * transaction.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { expect, onTestFinished, test, vi } from "vitest";
import type { ErrandError } from "../../src/index.ts";
import { asPostId, asTreeId } from "../../src/core/values/ids.ts";
import { mailOf } from "../../src/runtime/messages/mail.ts";
import { openStoreAt, sha256 } from "../../src/runtime/create-runtime.ts";
import { hang, say, type Script } from "../../src/testing/index.ts";
import { createDatabase, runSql } from "../support/postgres/databases.ts";
import { openTestErrand } from "../support/test-errand.ts";

vi.setConfig({ testTimeout: 120_000 });

/** Longer than the lease, and than the time after which a statement gives up waiting for a lock. */
const LOCKED_MS = 13_000;
const RESUMES_WITHIN_MS = 5_000;

const echo: Script = (_request, { newest }) => say(`heard ${newest}`);

async function lock(url: string, tables: string): Promise<() => Promise<void>> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query("begin");
  await client.query(`lock table ${tables} in access exclusive mode`);
  return async () => {
    await client.query("rollback");
    await client.end();
  };
}

async function within(milliseconds: number, done: () => Promise<boolean>): Promise<number> {
  const began = performance.now();
  while (!(await done())) {
    if (performance.now() - began > milliseconds) return Number.POSITIVE_INFINITY;
    await sleep(50);
  }
  return performance.now() - began;
}

interface Aftermath {
  /** How long after the lock was gone mail was answered and the deadline was kept; infinite if not in time. */
  readonly mail: number;
  readonly timer: number;
  readonly failures: readonly string[];
  /** Their codes: one while the lock lasted, one when it was over. */
  readonly notices: readonly string[];
  readonly difference: unknown;
}

/**
 * A worker that has a run under way, a deadline that comes while the tables are locked, and mail that is sent
 * afterwards.
 */
async function lockedFor(milliseconds: number, tables: string): Promise<Aftermath> {
  const database = await createDatabase();
  onTestFinished(() => database.drop());
  const failures: ErrandError[] = [];
  const notices: ErrandError[] = [];
  const { errand } = await openTestErrand(
    { parent: echo, child: () => hang() },
    {
      store: database.url,
      onFailure: (error) => void failures.push(error),
      onNotice: (notice) => void notices.push(notice),
    },
  );
  const agent = await errand.openAgent();
  await agent.postAndAwait("one");
  const run = await agent.spawn({ task: "x", timeoutSeconds: 2 });
  const unlock = await lock(database.url, tables);
  await sleep(milliseconds);
  await unlock();
  const sender = await openStoreAt(database.url, "read");
  const tree = asTreeId(agent.id);
  const id = asPostId("by-mail");
  await sender.putMail(mailOf(tree, { type: "message-posted", id, to: 0, kind: "user", size: 7 }, ["by mail"], sha256));
  const [mail, timer] = await Promise.all([
    within(RESUMES_WITHIN_MS, async () => (await sender.post(tree, id)) !== null),
    within(RESUMES_WITHIN_MS, async () => (await sender.run(run.id))?.state === "ended"),
  ]);
  await sender.close();
  await within(RESUMES_WITHIN_MS, async () => notices.length !== 1);
  const { difference } = mail === Number.POSITIVE_INFINITY ? { difference: null } : await errand.replay(agent.id);
  const codes = (errors: readonly ErrandError[]): string[] => errors.map((error) => error.code);
  return { mail, timer, failures: codes(failures), notices: codes(notices), difference };
}

const TABLES = [
  "errand.posts",
  "errand.trees",
  "errand.workers",
  "errand.journal",
  "errand.runs",
  "graphile_worker._private_jobs",
  "errand.posts, errand.trees, errand.workers, errand.journal, errand.runs, graphile_worker._private_jobs",
];

test("a worker takes mail and keeps deadlines again within 5 s of a lock on any of its tables", async () => {
  const after = await Promise.all(TABLES.map((tables) => lockedFor(LOCKED_MS, tables)));
  for (const [index, { mail, timer, notices, ...rest }] of after.entries()) {
    const tables = TABLES[index] ?? "";
    const resumed = mail < RESUMES_WITHIN_MS && timer < RESUMES_WITHIN_MS;
    expect({ tables, resumed, ...rest }).toEqual({ tables, resumed: true, failures: [], difference: null });
    // Jobs are hints: without them the work goes on, a little later.
    expect(notices).toEqual(tables.startsWith("graphile") ? [] : ["store-busy", "store-busy"]);
  }
});

test("workers that are all held up by one lock keep their trees: none is taken for dead", async () => {
  const database = await createDatabase();
  onTestFinished(() => database.drop());
  const notices: string[] = [];
  const failures: string[] = [];
  const workers = [];
  for (let number = 0; number < 2; number += 1) {
    const { errand } = await openTestErrand(
      { parent: echo, child: () => hang() },
      {
        store: database.url,
        onFailure: (error) => void failures.push(error.code),
        onNotice: (notice) => void notices.push(notice.code),
      },
    );
    const agent = await errand.openAgent();
    await agent.spawn({ task: "x" });
    workers.push({ errand, agent });
  }
  const owners = () => runSql(database.url, "select id, owner, epoch from errand.trees order by id");
  const before = await owners();
  // Mail cannot be looked for: after a lease they stop their heartbeats, and after another each would be dead to the
  // others.
  const unlock = await lock(database.url, "errand.posts");
  await sleep(24_000);
  await unlock();
  await sleep(8_000);
  expect(await owners()).toEqual(before);
  for (const { agent } of workers) expect((await agent.postAndAwait("on")).text).toContain("heard on");
  expect({ notices, failures }).toEqual({ notices: Array.from({ length: 4 }, () => "store-busy"), failures: [] });
});
