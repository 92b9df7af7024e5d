import { spawnSync } from "node:child_process";
import { createServer as createTcpServer } from "node:net";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { createSystemWorld } from "../../src/runtime/world.ts";
import { openPostgresStore } from "../../src/stores/postgres/postgres-store.ts";
import { storeName } from "../../src/stores/store-url.ts";
import { createDatabase, GUARDED, GUARDED_PASSWORD, runSql, type TestDatabase } from "../support/postgres/databases.ts";

const world = createSystemWorld();
const open = (url: string, access: "own" | "read" = "own") => openPostgresStore({ url, access, world });

async function database(): Promise<TestDatabase> {
  const made = await createDatabase();
  onTestFinished(() => made.drop());
  return made;
}

function withUser(url: string, user: string): string {
  return url.replace(/\/\/[^@]*@/, `//${user}@`);
}

/** What is thrown: its code, and that a person is told what happened and what to do, without the password. */
async function refusal(url: string, access: "own" | "read" = "own"): Promise<string> {
  const thrown: unknown = await open(url, access).catch((error: unknown) => error);
  expect(thrown).toMatchObject({ code: expect.any(String), remedy: expect.any(String) });
  const { code, message, remedy } = thrown as { code: string; message: string; remedy: string };
  for (const line of [message, remedy]) {
    expect(line).not.toContain("\n");
    expect(line).not.toContain("secret");
  }
  return code;
}

test.each([
  "postgres://",
  "postgres:nonsense",
  "postgres://host:port/name",
  "postgres://user:secret@host",
  "postgres://u:secret@h/",
])("a URL that leads nowhere is a wrong use: %s", async (url) => {
  expect(await refusal(url)).toBe("usage");
});

test("a server that is not there is told in two lines", async () => {
  const server = createTcpServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = address !== null && typeof address === "object" ? address.port : 0;
  server.close();
  expect(await refusal(`postgres://u:secret@127.0.0.1:${port}/name`)).toBe("store-unreachable");
  expect(await refusal("postgres://u:secret@nowhere.invalid/name")).toBe("store-unreachable");
});

test("a server that takes the connection and says nothing is given up", async () => {
  const server = createTcpServer(() => undefined).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = address !== null && typeof address === "object" ? address.port : 0;
  expect(await refusal(`postgres://u:secret@127.0.0.1:${port}/name`)).toBe("store-unreachable");
});

test("a wrong password, none, an unknown user and an unknown database are refusals", async () => {
  const { url } = await database();
  expect(await refusal(withUser(url, `${GUARDED}:secret`))).toBe("store-refused");
  expect(await refusal(withUser(url, GUARDED))).toBe("store-refused");
  expect(await refusal(withUser(url, "nobody-here"))).toBe("store-refused");
  expect(await refusal(`${url}_missing`)).toBe("store-refused");
});

test("a user that may not make the tables is told what it lacks, and may use those that another made", async () => {
  const { url } = await database();
  const guarded = withUser(url, `${GUARDED}:${GUARDED_PASSWORD}`);
  expect(await refusal(guarded)).toBe("store-refused");
  await (await open(url)).close();
  expect(await refusal(guarded)).toBe("store-refused");
  await runSql(
    url,
    `grant usage on schema errand to ${GUARDED}; grant all on all tables in schema errand to ${GUARDED};
     grant all on all sequences in schema errand to ${GUARDED}`,
  );
  await (await open(guarded)).close();
});

test("a process that only looks does not make a store", async () => {
  const { url } = await database();
  expect(await refusal(url, "read")).toBe("store-unreadable");
  expect(await runSql(url, "select to_regclass('errand.meta') as there")).toEqual([{ there: null }]);
});

test("a store of a newer version is left alone, unless its processes and ours may run side by side", async () => {
  const { url } = await database();
  await (await open(url)).close();
  await runSql(url, "update errand.meta set value = '999' where name = 'version'");
  for (const access of ["own", "read"] as const) await (await open(url, access)).close();
  expect(await runSql(url, "select value from errand.meta where name = 'version'")).toEqual([{ value: "999" }]);
  await runSql(url, "update errand.meta set value = '999' where name = 'oldest'");
  for (const access of ["own", "read"] as const) expect(await refusal(url, access)).toBe("store-too-new");
});

test("a store of an older version is refused, with a remedy", async () => {
  const { url } = await database();
  await (await open(url)).close();
  await runSql(url, "update errand.meta set value = '4' where name = 'version'");
  for (const access of ["own", "read"] as const) expect(await refusal(url, access)).toBe("store-unreadable");
});

test("several processes that open an empty database at once make one store of it", async () => {
  const { url } = await database();
  const stores = await Promise.all(Array.from({ length: 6 }, () => open(url)));
  expect(await runSql(url, "select count(*)::int as workers from errand.workers")).toEqual([{ workers: 6 }]);
  await Promise.all(stores.map((store) => store.close()));
  expect(await runSql(url, "select count(*)::int as workers from errand.workers")).toEqual([{ workers: 0 }]);
});

test("every connection has its time-outs, and waits for durable commits whatever the default is", async () => {
  const { url } = await database();
  await runSql(url, `alter role ${GUARDED} set synchronous_commit = off`);
  onTestFinished(async () => void (await runSql(url, `alter role ${GUARDED} reset synchronous_commit`)));
  await runSql(url, `grant create on database ${new URL(url).pathname.slice(1)} to ${GUARDED}`);
  const store = await open(withUser(url, `${GUARDED}:${GUARDED_PASSWORD}`));
  await store.nextWake();
  // A function that a statement of the store calls shows what its session is set to.
  await runSql(
    url,
    `create table errand.seen as select null::text as setting where false; grant all on errand.seen to ${GUARDED};
     create function errand.tell() returns trigger language plpgsql as $$ begin
       insert into errand.seen select name || '=' || setting from pg_settings where name in
         ('statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'synchronous_commit');
       return new; end $$;
     create trigger tell before insert on errand.anchor for each row execute function errand.tell()`,
  );
  await store.setAnchor({ at: 1, wall: 1, monotonic: 1, boot: "b" });
  await store.close();
  expect((await runSql(url, "select setting from errand.seen order by 1")).map(({ setting }) => setting)).toEqual([
    "idle_in_transaction_session_timeout=5000",
    "lock_timeout=2000",
    "statement_timeout=30000",
    "synchronous_commit=on",
  ]);
});

test("no name of a store shows its password", () => {
  expect(storeName("postgres://user:secret@host:5433/name?sslmode=require")).toBe("postgres://host:5433/name");
  expect(storeName("postgres:///secret")).not.toContain("secret");
  expect(storeName(".errand/errand.db")).toBe(".errand/errand.db");
});

test("who uses another store does not load what PostgreSQL needs", () => {
  const index = new URL("../../src/index.ts", import.meta.url).href;
  const code = `
    import { registerHooks } from "node:module";
    const asked = [];
    registerHooks({ resolve: (name, context, next) => (asked.push(name), next(name, context)) });
    const { createErrand } = await import(${JSON.stringify(index)});
    await (await createErrand({ store: "memory" })).close();
    console.log(JSON.stringify(asked.filter((name) => /^(pg|graphile-worker)$|postgres-store/.test(name))));`;
  const { stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", code], { encoding: "utf8" });
  expect(JSON.parse(stdout)).toEqual([]);
});
