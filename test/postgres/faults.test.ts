/**
 * What a runtime makes of a database that goes away: restarts, cut connections, commits of unknown outcome, failovers.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import type { Errand, ErrandError } from "../../src/index.ts";
import { say, type Script } from "../../src/testing/index.ts";
import { createDatabase, createServer, createStandby, type OwnServer, runSql } from "../support/postgres/databases.ts";
import { createProxy, type Proxy } from "../support/postgres/proxy.ts";
import { openTestErrand } from "../support/test-errand.ts";

vi.setConfig({ testTimeout: 120_000 });

const echo: Script = (_request, { newest }) => say(`heard ${newest}`);

interface Opened {
  readonly errand: Errand;
  readonly notices: ErrandError[];
  readonly failures: ErrandError[];
}

async function open(store: string): Promise<Opened> {
  const notices: ErrandError[] = [];
  const failures: ErrandError[] = [];
  const { errand } = await openTestErrand(
    { parent: echo },
    { store, onNotice: (notice) => void notices.push(notice), onFailure: (error) => void failures.push(error) },
  );
  return { errand, notices, failures };
}

async function proxyTo(port: number): Promise<Proxy> {
  const proxy = await createProxy(port);
  onTestFinished(() => proxy.close());
  return proxy;
}

/** The messages of a tree in the order in which they were taken: each must be there once. */
async function taken(errand: Errand, tree: string): Promise<string[]> {
  const history = await (await errand.agent(tree)).history();
  return history.map((item) => item.text);
}

test.each(["unanswered", "lost"] as const)(
  "a commit whose COMMIT was sent and its connection cut (%s) is looked up, and its message is answered once",
  async (how) => {
    const database = await createDatabase();
    onTestFinished(() => database.drop());
    const proxy = await proxyTo(Number(new URL(database.url).port));
    const { errand, failures } = await open(proxy.through(database.url));
    const agent = await errand.openAgent();
    expect((await agent.postAndAwait("one")).text).toBe("heard one");
    const cut = proxy.cutAtCommit(how);
    const reply = agent.postAndAwait("two", { id: "two" });
    await cut;
    expect((await reply).text).toBe("heard two");
    const again = proxy.cutAtCommit(how);
    const [three] = await Promise.all([agent.postAndAwait("three"), again]);
    expect(three.text).toBe("heard three");
    expect(await taken(errand, agent.id)).toEqual(["one", "heard one", "two", "heard two", "three", "heard three"]);
    expect((await errand.replay(agent.id)).difference).toBeNull();
    expect(failures).toEqual([]);
  },
);

test("connections that are cut again and again, and a server that is restarted, delay and lose nothing", async () => {
  const server = await createServer();
  onTestFinished(() => server.remove());
  const proxy = await proxyTo(server.port);
  const { errand, failures, notices } = await open(proxy.through(server.url));
  const agent = await errand.openAgent();
  const said: string[] = [];
  const talk = (async () => {
    for (let number = 1; number <= 60; number += 1) said.push((await agent.postAndAwait(`m${number}`)).text);
  })();
  for (let cuts = 0; cuts < 6; cuts += 1) {
    await sleep(150);
    proxy.cut();
  }
  await server.stop("immediate");
  await sleep(500);
  await server.start();
  await talk;
  expect(said).toEqual(Array.from({ length: 60 }, (_, index) => `heard m${index + 1}`));
  expect((await taken(errand, agent.id)).length).toBe(120);
  expect((await errand.replay(agent.id)).difference).toBeNull();
  expect({ failures, notices }).toEqual({ failures: [], notices: [] });
});

/** A primary with its standby behind one address, as a failover leaves them. */
async function pair(): Promise<{ primary: OwnServer; standby: OwnServer; proxy: Proxy; failOver(): Promise<void> }> {
  const primary = await createServer();
  const standby = await createStandby(primary);
  onTestFinished(async () => {
    await standby.remove();
    await primary.remove();
  });
  const proxy = await proxyTo(primary.port);
  return {
    primary,
    standby,
    proxy,
    async failOver() {
      await primary.stop("immediate");
      await runSql(standby.url, "select pg_promote()");
      proxy.connectTo(standby.port);
    },
  };
}

async function caughtUp(primary: OwnServer, standby: OwnServer): Promise<void> {
  const [at] = await runSql(primary.url, "select pg_current_wal_lsn()::text as lsn");
  for (;;) {
    const [row] = await runSql(standby.url, `select pg_last_wal_replay_lsn() >= '${String(at?.["lsn"])}' as there`);
    if (row?.["there"] === true) return;
    await sleep(20);
  }
}

test("a standby that has everything takes over, and the conversation goes on where it was", async () => {
  const { primary, standby, proxy, failOver } = await pair();
  const { errand, failures, notices } = await open(proxy.through(primary.url));
  const agent = await errand.openAgent();
  await agent.postAndAwait("one");
  await caughtUp(primary, standby);
  await failOver();
  expect((await agent.postAndAwait("two")).text).toBe("heard two");
  expect(await taken(errand, agent.id)).toEqual(["one", "heard one", "two", "heard two"]);
  expect((await errand.replay(agent.id)).difference).toBeNull();
  expect({ failures, notices }).toEqual({ failures: [], notices: [] });
});

test("a lagging standby lost acknowledged rows: the loss is reported, and the tree continues", async () => {
  const { primary, standby, proxy, failOver } = await pair();
  const { errand, failures, notices } = await open(proxy.through(primary.url));
  const agent = await errand.openAgent();
  await agent.postAndAwait("one");
  await caughtUp(primary, standby);
  await runSql(standby.url, "alter system set primary_conninfo = ''");
  await runSql(standby.url, "select pg_reload_conf()");
  for (;;) {
    const [row] = await runSql(standby.url, "select count(*)::int as streams from pg_stat_wal_receiver");
    if (row?.["streams"] === 0) break;
    await sleep(20);
  }
  await agent.postAndAwait("two");
  await failOver();
  for (const end = performance.now() + 60_000; notices.length === 0 && performance.now() < end;) await sleep(50);
  expect(notices.map((notice) => notice.code)).toEqual(["commits-lost"]);
  expect((await agent.postAndAwait("three")).text).toBe("heard three");
  expect(await taken(errand, agent.id)).toEqual(["one", "heard one", "three", "heard three"]);
  expect((await errand.replay(agent.id)).difference).toBeNull();
  expect(failures).toEqual([]);
});
