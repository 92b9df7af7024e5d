/** The command line on a PostgreSQL store: named by `--store` or by ERRAND_DATABASE_URL. */

import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createDatabase, GUARDED, GUARDED_PASSWORD, runSql, type TestDatabase } from "../support/postgres/databases.ts";
import { type Finished, projectFolder, records, runErrand, SLOW, storeOf } from "./support/errand-process.ts";
import { saidOf } from "./support/worked-project.ts";

vi.setConfig({ testTimeout: 120_000 });

const project = { folder: "", remove: (): void => undefined };
let database: TestDatabase;
beforeEach(async () => {
  Object.assign(project, projectFolder());
  database = await createDatabase();
});
afterEach(async () => {
  project.remove();
  await database.drop();
});

const errand = (args: readonly string[], url = ""): Promise<Finished> =>
  runErrand(args, { folder: project.folder, env: { ERRAND_DATABASE_URL: url } });

test("a task runs in the database, and every read command finds it there", async () => {
  const store = ["--store", database.url];
  const done = await errand(["run", "--json", "where is the store opened?", ...store]);
  expect(done.code).toBe(0);
  const lines = records(done.out);
  const tree = String(lines[0]?.["tree"]);
  expect(lines.at(-1)).toMatchObject({ type: "done", outcome: "done", tree });
  expect(existsSync(join(project.folder, ".errand"))).toBe(false);
  expect((await errand(["ps", "--all", ...store])).out).toContain(`${tree.slice(-6)}  where is the store opened?`);
  expect((await errand(["show", tree.slice(0, 13), ...store])).out).toContain("report: tool");
  expect((await errand(["logs", "last", ...store])).out).toContain("run-ended");
  expect((await errand(["replay", tree, ...store])).out).toContain("proven");
  const run = lines.find((line) => line["type"] === "run-created");
  expect((await errand(["result", String(run?.["run"]), ...store])).code).toBe(0);
  const exported = await errand(["export", tree, ...store]);
  expect(exported.out.split("\n").length).toBeGreaterThan(5);
  const sent = await errand(["send", tree, "and the tests?", ...store]);
  expect(sent).toMatchObject({ code: 0, out: expect.stringContaining("kept in the store") });
  expect((await errand(["resume", ...store])).code).toBe(0);
  expect((await errand(["ps", ...store])).err).toContain("no tree has anything to do");
});

test("ERRAND_DATABASE_URL is the default store, and no output contains its password", async () => {
  await runSql(database.url, `grant create on database ${new URL(database.url).pathname.slice(1)} to ${GUARDED}`);
  const url = database.url.replace(/\/\/[^@]*@/, `//${GUARDED}:${GUARDED_PASSWORD}@`);
  const done = await errand(["run", "where is the store opened?"], url);
  expect(done.code).toBe(0);
  const shown = [done, await errand(["ps", "--all"], url), await errand(["run", "--help"], url)];
  const missing = await errand(["show", "abcdef12"], url);
  expect(saidOf(missing.err)).toMatchObject({ code: "tree-unknown", lines: 2 });
  for (const { out, err } of [...shown, missing]) expect(out + err).not.toContain(GUARDED_PASSWORD);
  expect(existsSync(join(project.folder, ".errand"))).toBe(false);
  const [counted] = await runSql(database.url, "select count(*)::int as trees from errand.trees");
  expect(counted).toEqual({ trees: 1 });
});

test("with --detach the password is in no argument and in no file name", async () => {
  await runSql(database.url, `grant create on database ${new URL(database.url).pathname.slice(1)} to ${GUARDED}`);
  const url = database.url.replace(/\/\/[^@]*@/, `//${GUARDED}:${GUARDED_PASSWORD}@`);
  const started = await runErrand(["run", "--detach", "--json", "--model", "held/1", "--store", url, "the store"], {
    folder: project.folder,
    entry: SLOW,
  });
  expect(started.out + started.err).not.toContain(GUARDED_PASSWORD);
  const [{ tree, pid, log } = { tree: "", pid: 0, log: "" }] = records(started.out);
  expect(log).toBe(join(dirname(storeOf(project.folder)), "background-log"));
  expect(readFileSync(`/proc/${Number(pid)}/cmdline`, "utf8")).not.toContain(GUARDED_PASSWORD);
  expect((await errand(["ps"], url)).out).toContain(String(tree).slice(-6));
  writeFileSync(join(project.folder, "go"), "");
  while (existsSync(`/proc/${Number(pid)}`)) await new Promise((resolve) => setTimeout(resolve, 50));
  expect((await errand(["result", String(tree)], url)).out).toContain("store.ts");
  expect(readFileSync(String(log), "utf8")).not.toContain(GUARDED_PASSWORD);
  expect(readdirSync(project.folder).filter((name) => name.startsWith("postgres"))).toEqual([]);
});

test("a conversation continues in the database", async () => {
  const chat = (input: string, ...args: string[]): Promise<Finished> =>
    runErrand(["chat", "--store", database.url, ...args], { folder: project.folder, input });
  expect(await chat("what opens the store?\n")).toMatchObject({ code: 0, out: expect.stringContaining("store.ts") });
  const [tree] = records((await errand(["ps", "--all", "--json", "--store", database.url])).out);
  const { code, out } = await chat("and the tests?\n", String(tree?.["id"]));
  expect(out).toMatch(/^I asked .+\n\nYou asked: and the tests\?/);
  expect(code).toBe(0);
});

test("DATABASE_URL, which may belong to another program, is not used unless a setting allows it", async () => {
  const env = { DATABASE_URL: database.url };
  const how = { folder: project.folder, home: join(project.folder, "home"), env };
  const trees = async (): Promise<unknown> =>
    (await runSql(database.url, "select count(*)::int as trees from errand.trees").catch(() => []))[0] ?? null;
  expect((await runErrand(["run", "where is the store opened?"], how)).code).toBe(0);
  expect(await trees()).toBeNull();
  const checks = records((await runErrand(["doctor", "--json"], how)).out);
  expect(checks.find(({ name }) => name === "database")).toMatchObject({
    level: "warning",
    remedy: expect.stringContaining("useDatabaseUrl true"),
  });
  const worker = await runErrand(["worker"], how);
  expect(saidOf(worker.err)).toMatchObject({ code: "usage", lines: 2 });
  expect(worker.err).toContain("DATABASE_URL alone is not used");
  expect((await runErrand(["config", "set", "--global", "useDatabaseUrl", "true"], how)).code).toBe(0);
  expect((await runErrand(["run", "where is the store opened?"], how)).code).toBe(0);
  expect(await trees()).toEqual({ trees: 1 });
  const other = { ...how, env: { DATABASE_URL: "mysql://u:p@127.0.0.1/name" } };
  expect((await runErrand(["run", "where is the store opened?"], other)).code).toBe(0);
});

test("an ERRAND_DATABASE_URL that names no PostgreSQL database is an error", async () => {
  const { err } = await errand(["ps"], "mysql://u:secret@127.0.0.1/name");
  expect(saidOf(err)).toMatchObject({ code: "config-invalid", lines: 2 });
  expect(err).not.toContain("secret");
});

test("every command reports a database problem in two lines", async () => {
  const wrong = database.url.replace(/\/\/[^@]*@/, `//${GUARDED}:wrong-password@`);
  const said = {
    usage: "postgres://host",
    "store-unreachable": "postgres://u:wrong-password@127.0.0.1:1/name",
    "store-refused": wrong,
  };
  for (const [code, url] of Object.entries(said)) {
    for (const args of [["run", "the store"], ["ps"]]) {
      const { err, code: exit } = await errand([...args, "--store", url]);
      expect(saidOf(err)).toMatchObject({ code, lines: 2 });
      expect(err).not.toContain("wrong-password");
      expect(exit).toBe(code === "usage" ? 2 : 1);
    }
  }
  const { err } = await errand(["ps", "--store", database.url]);
  expect(saidOf(err)).toMatchObject({ code: "store-unreadable", lines: 2 });
});
