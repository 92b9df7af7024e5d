/**
 * Waking, claiming and dying, at the store: which jobs are added when, whose trees may be taken, what is done for the
 * dead.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { SharedStore, Store } from "../../src/contracts/store.ts";
import type { TreeId } from "../../src/core/values/ids.ts";
import { createSystemWorld } from "../../src/runtime/world.ts";
import { ErrandError } from "../../src/errors.ts";
import { askOf } from "../../src/stores/postgres/database.ts";
import { createWaking } from "../../src/stores/postgres/waking.ts";
import { openPostgresStore } from "../../src/stores/postgres/postgres-store.ts";
import { birth, commitOf, part, sampleMail, treeNumber } from "../conformance/store-samples.ts";
import { createDatabase, runSql, type TestDatabase } from "../support/postgres/databases.ts";

vi.setConfig({ testTimeout: 60_000 });

const [one, two, three] = [treeNumber(1), treeNumber(2), treeNumber(3)];
let database: TestDatabase;
const handles: Store[] = [];
beforeEach(async () => {
  database = await createDatabase();
});
afterEach(async () => {
  for (const store of handles.splice(0)) await store.close();
  await database.drop();
});

async function open(): Promise<Store & { readonly shared: SharedStore }> {
  const store = await openPostgresStore({ url: database.url, access: "own", world: createSystemWorld() });
  handles.push(store);
  const { shared } = store;
  if (shared === undefined) throw new Error("not shared");
  return { ...store, shared };
}

/** As after the first worker of the database: there is a dispatcher's schema, and nobody who empties it. */
async function openAfterDispatcher(): Promise<Store & { readonly shared: SharedStore }> {
  const store = await open();
  const stop = await store.shared.dispatch(async () => undefined, fail);
  await stop();
  return store;
}

function fail(error: unknown): void {
  throw error;
}

async function until(what: string, done: () => Promise<boolean>): Promise<void> {
  for (const end = performance.now() + 40_000; !(await done()); await sleep(50)) {
    if (performance.now() > end) throw new Error(`it never came to pass: ${what}`);
  }
}

const jobs = () =>
  runSql(
    database.url,
    `select key, task_identifier as task, run_at > now() + interval '1 hour' as later
     from graphile_worker.jobs order by key`,
  );
const wake = (tree: TreeId) => ({ key: `wake:${tree}`, task: "errand:wake:1", later: false });
const timer = (tree: TreeId) => ({ key: `timer:${tree}`, task: "errand:timer:1", later: true });
const inADay = () => Date.now() + 86_400_000;

test("whoever is refused because another adds the same jobs tries again", async () => {
  const store = await openAfterDispatcher();
  await store.commit(commitOf(birth(one, { busy: true })));
  await store.shared.releaseOwnership([{ tree: one, epoch: 1 }]);
  await runSql(database.url, "delete from graphile_worker._private_jobs");
  const client = new Client({ connectionString: database.url });
  await client.connect();
  const real = askOf(client);
  let refusals = 0;
  const waking = createWaking(async (statement, values) => {
    if (!statement.name.includes("sweep") || refusals === 2) return real(statement, values);
    refusals += 1;
    throw new ErrandError("commit-conflict", "deadlock detected");
  });
  await waking.sweep(true);
  await client.end();
  expect(refusals).toBe(2);
  expect(await jobs()).toEqual([wake(one)]);
});

describe("jobs", () => {
  test("mail wakes a tree that nobody runs, and no other", async () => {
    const store = await openAfterDispatcher();
    await store.commit(commitOf(birth(one), birth(two)));
    await store.shared.releaseOwnership([{ tree: one, epoch: 1 }]);
    expect(await jobs()).toEqual([]);
    for (const tree of [one, two, three]) await store.putMail(sampleMail(tree, "m"));
    expect(await jobs()).toEqual([wake(one)]);
  });

  test("a released tree is woken for earlier mail, and timed for later; the two jobs have different keys", async () => {
    const store = await openAfterDispatcher();
    await store.commit(commitOf(birth(one, { wakeAt: inADay() }), birth(two, { wakeAt: inADay() }), birth(three)));
    await store.putMail(sampleMail(one, "m"));
    await store.shared.releaseOwnership([one, two, three].map((tree) => ({ tree, epoch: 1 })));
    expect(await jobs()).toEqual([timer(one), timer(two), wake(one)].toSorted((a, b) => (a.key < b.key ? -1 : 1)));
  });

  test("a tree that was claimed since is not let go", async () => {
    const [first, second] = [await openAfterDispatcher(), await open()];
    await first.commit(commitOf(birth(one)));
    await first.shared.releaseOwnership([{ tree: one, epoch: 1 }]);
    const [claimed] = await second.claim([one]);
    await first.shared.releaseOwnership([{ tree: one, epoch: 1 }]);
    expect(await first.claim([one])).toEqual([]);
    expect(claimed?.epoch).toBe(2);
  });

  test("a process that leaves wakes what it had under way", async () => {
    const store = await openAfterDispatcher();
    await store.commit(commitOf(birth(one, { busy: true }), birth(two)));
    await store.close();
    expect(await jobs()).toEqual([wake(one)]);
  });

  test("commits of an owner add none", async () => {
    const store = await openAfterDispatcher();
    await store.commit(commitOf(birth(one, { busy: true, wakeAt: 1 })));
    await store.commit(commitOf(part(one, 2, 9, { busy: true, wakeAt: 2 })));
    expect(await jobs()).toEqual([]);
  });
});

describe("the dispatcher", () => {
  test("tells of trees with unfinished work, a time that has come or mail, and no living owner", async () => {
    const owner = await open();
    const trees = Array.from({ length: 6 }, (_, index) => treeNumber(index + 1));
    const [busy = one, due = one, mailed = one, idle = one, later = one, owned = one] = trees;
    await owner.commit(
      commitOf(
        birth(busy, { busy: true }),
        birth(due, { wakeAt: 1 }),
        birth(mailed),
        birth(idle),
        birth(later, { wakeAt: inADay() }),
        birth(owned, { busy: true }),
      ),
    );
    await owner.putMail(sampleMail(mailed, "m"));
    // As if a process had died that had all but the last.
    await runSql(database.url, `update errand.trees set owner = 999 where id <> '${owned}'`);
    const told = new Set<TreeId>();
    const worker = await open();
    const stop = await worker.shared.dispatch(async (tree) => void told.add(tree), fail);
    await until("told", async () => told.size >= 3);
    await sleep(300);
    await stop();
    expect([...told].toSorted()).toEqual([busy, due, mailed].toSorted());
  });

  test("goes on when a connection is cut over which it says that a job is done", async () => {
    const store = await open();
    await store.commit(commitOf(birth(one), birth(two)));
    await store.shared.releaseOwnership([one, two].map((tree) => ({ tree, epoch: 1 })));
    const holder = new Client({ connectionString: database.url });
    await holder.connect();
    const told: TreeId[] = [];
    const stop = await store.shared.dispatch(async (tree) => {
      told.push(tree);
      if (told.length > 1) return;
      await holder.query("begin; select * from graphile_worker._private_jobs for update");
    }, fail);
    await store.putMail(sampleMail(one, "m"));
    const blocked = `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
                     and query like '%delete from%_private_jobs%'`;
    await until("its end is waited for", async () => (await runSql(database.url, blocked)).length > 0);
    await runSql(database.url, `select pg_terminate_backend(pid) from (${blocked}) waiting`);
    await holder.end();
    await until("told of the next", async () => {
      await runSql(database.url, `delete from errand.posts`);
      await store.putMail(sampleMail(two, "m"));
      return told.includes(two);
    });
    await stop();
  });

  test("unlocks the jobs of a dead worker, and buries it once it was silent for a lease", async () => {
    const store = await openAfterDispatcher();
    await store.commit(commitOf(birth(one)));
    await runSql(
      database.url,
      `insert into errand.workers (name, pool, seen_at) values ('dead', 'pool-dead', now() - interval '1 minute');
       select graphile_worker.add_job('errand:wake:9', '{}');
       update graphile_worker._private_jobs set locked_by = 'pool-dead', locked_at = now()`,
    );
    const stop = await store.shared.dispatch(async () => undefined, fail);
    await until(
      "unlocked",
      async () =>
        (await runSql(database.url, "select 1 from graphile_worker.jobs where locked_by is not null")).length === 0,
    );
    await until(
      "buried",
      async () => (await runSql(database.url, "select 1 from errand.workers where name = 'dead'")).length === 0,
    );
    await stop();
  });
});

describe("who may be taken for dead", () => {
  /** A worker that this test keeps in the state it wants. */
  async function worker(seen: string): Promise<number> {
    const [row] = await runSql(
      database.url,
      `insert into errand.workers (name, seen_at)
       values ('other', clock_timestamp() - interval '${seen}') returning id`,
    );
    return Number(row?.["id"]);
  }

  async function claimFrom(store: Store, tree: TreeId, owner: number): Promise<boolean> {
    await runSql(database.url, `update errand.trees set owner = ${owner} where id = '${tree}'`);
    return (await store.claim([tree])).length === 1;
  }

  test("silent for 3 s without its lock, silent for the lease with it, and nobody else", async () => {
    const store = await open();
    await store.commit(commitOf(birth(one)));
    expect(await claimFrom(store, one, await worker("2 s"))).toBe(false);
    expect(await claimFrom(store, one, await worker("4 s"))).toBe(true);
    const holder = await open();
    const [held] = await runSql(database.url, "select max(id) as id from errand.workers");
    const silence = (seen: string) =>
      runSql(
        database.url,
        `update errand.workers set seen_at = clock_timestamp() - interval '${seen}' where id = ${Number(held?.["id"])}`,
      );
    await silence("5 s");
    expect(await claimFrom(store, one, Number(held?.["id"]))).toBe(false);
    await silence("11 s");
    expect(await claimFrom(store, one, Number(held?.["id"]))).toBe(true);
    expect(holder.shared.alive()).toBe(true);
  });

  test("nobody, for one lease after one's own connection was lost", async () => {
    const store = await open();
    await store.commit(commitOf(birth(one), birth(two)));
    const returned = new Promise<void>((resolve) => store.shared.onReturn(resolve));
    expect(await claimFrom(store, one, await worker("1 minute"))).toBe(true);
    await runSql(
      database.url,
      `select pg_terminate_backend(pid) from pg_locks
       where locktype = 'advisory' and classid = 1165128289 and objid = 1`,
    );
    await returned;
    expect(await claimFrom(store, two, await worker("1 minute"))).toBe(false);
  });
});
