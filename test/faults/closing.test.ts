/** Closing while the store does not answer: `close()` ends soon after its bound, and the next process goes on. */

import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { expect, onTestFinished, test, vi } from "vitest";
import type { ErrandError } from "../../src/index.ts";
import { say, type Script } from "../../src/testing/index.ts";
import { createDatabase, createServer } from "../support/postgres/databases.ts";
import { openTestErrand, temporaryFolder } from "../support/test-errand.ts";

vi.setConfig({ testTimeout: 120_000 });

const BOUND_MS = 500;
/** With the time-out of a statement that waits for a lock, and room for what else runs on a machine of tests. */
const CLOSED_WITHIN_MS = 9_000;

const echo: Script = (_request, { newest }) => say(`heard ${newest}`);

interface Site {
  readonly store: string;
  /** Makes the store unable to answer, and returns what ends that. */
  readonly fault: () => Promise<() => Promise<void>>;
}

const sites: Readonly<Record<string, () => Promise<Site>>> = {
  async "a SQLite file that another program has locked"() {
    const store = join(temporaryFolder(), "errand.db");
    return {
      store,
      async fault() {
        const other = new DatabaseSync(store);
        other.exec("begin immediate");
        return async () => other.close();
      },
    };
  },
  async "tables of PostgreSQL that another session has locked"() {
    const database = await createDatabase();
    onTestFinished(() => database.drop());
    return {
      store: database.url,
      async fault() {
        const client = new Client({ connectionString: database.url });
        await client.connect();
        await client.query("begin; lock table errand.trees, errand.journal, errand.posts in access exclusive mode");
        return () => client.end();
      },
    };
  },
  async "a PostgreSQL server that is away"() {
    const server = await createServer();
    onTestFinished(server.remove);
    return {
      store: server.url,
      async fault() {
        await server.stop("immediate");
        return server.start;
      },
    };
  },
};

test.each(Object.entries(sites))("%s: close() ends, and the message is answered once by the next", async (_, make) => {
  const { store, fault } = await make();
  const failures: string[] = [];
  const first = await openTestErrand(
    { parent: echo },
    { store, onNotice: () => undefined, onFailure: ({ code }) => void failures.push(code) },
  );
  const agent = await first.errand.openAgent();
  await agent.postAndAwait("one");
  const end = await fault();
  const asked = agent.postAndAwait("two", { id: "two" }).then(
    () => "answered",
    (error: ErrandError) => error.code,
  );
  await sleep(300);
  const began = performance.now();
  await first.errand.close({ withinMs: BOUND_MS }).catch(() => undefined);
  expect(performance.now() - began).toBeLessThan(CLOSED_WITHIN_MS);
  await end();
  expect(await asked).toBe("store-closed");
  expect(failures).toEqual([]);
  const second = await openTestErrand({ parent: echo }, { store });
  const again = await second.errand.agent(agent.id);
  expect((await again.postAndAwait("two", { id: "two" })).text).toBe("heard two");
  const said = (await again.history()).map(({ text }) => text);
  expect(said.filter((text) => text.endsWith("two"))).toEqual(["two", "heard two"]);
  expect((await second.errand.replay(agent.id)).difference).toBeNull();
});
