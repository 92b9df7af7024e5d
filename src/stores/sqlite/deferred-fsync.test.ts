import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { configure } from "./open-database.ts";
import { createDeferredFsync, type DeferredFsync } from "./deferred-fsync.ts";
import { createTransaction } from "./connection.ts";

const FULL = 2;
const NORMAL = 1;
let folder: string;
let path: string;
let db: DatabaseSync;
let trailing: DeferredFsync;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "errand-deferred-fsync-"));
  path = join(folder, "store.db");
  db = new DatabaseSync(path);
  configure(db, path, "own", "full", 100);
  db.exec("create table things (thing)");
  trailing = createDeferredFsync(db, path, createTransaction(db, "The store"));
});
afterEach(() => {
  if (db.isOpen) db.close();
  rmSync(folder, { recursive: true });
});

const setting = (name: string): number => Number(Object.values(db.prepare(`pragma ${name}`).get() ?? {})[0]);
const level = (): number => setting("synchronous");
const put = (): number => {
  db.exec("insert into things values (1)");
  return level();
};
/** A log that can be opened, and cannot be made durable. */
function brokenLog(): DeferredFsync {
  const other = join(folder, "other.db");
  symlinkSync("/dev/null", `${other}-wal`);
  return createDeferredFsync(db, other, createTransaction(db, "The store"));
}
const refusal = expect.objectContaining({ code: "store-failed" });

test("only what trails does not wait for the disk, whatever came before it and whether it succeeds or not", () => {
  expect(trailing.transaction(put)).toBe(FULL);
  expect(trailing.transaction(put, "deferred")).toBe(NORMAL);
  expect(trailing.transaction(put, "deferred")).toBe(NORMAL);
  expect(trailing.transaction(put)).toBe(FULL);
  const failing = (): never => {
    put();
    throw new Error("no");
  };
  expect(() => trailing.transaction(failing, "deferred")).toThrow("no");
  expect(trailing.transaction(put, "now")).toBe(FULL);
  trailing.transaction(put, "deferred");
  trailing.waitForDisk();
  expect(level()).toBe(FULL);
  expect(db.prepare("select count(*) as things from things").get()).toEqual({ things: 6 });
});

test("the connection is set anew only for a transaction of the other kind", () => {
  const set: string[] = [];
  const exec = db.exec.bind(db);
  db.exec = (sql) => {
    if (sql.includes("synchronous")) set.push(sql);
    exec(sql);
  };
  for (const writing of ["deferred", "deferred", "now", "now", "deferred"] as const) trailing.transaction(put, writing);
  expect(set.map((sql) => sql.includes(`synchronous = ${NORMAL}`))).toEqual([true, false, true]);
});

test("what trails is made durable; once the disk refuses that, nothing more is written", async () => {
  trailing.transaction(put, "deferred");
  await expect(trailing.flush()).resolves.toBeUndefined();
  const broken = brokenLog();
  await expect(broken.flush(), "nothing trails").resolves.toBeUndefined();
  broken.transaction(put, "deferred");
  broken.transaction(put, "now");
  await expect(broken.flush(), "it is durable already").resolves.toBeUndefined();
  broken.transaction(put, "deferred");
  // Whatever writes nothing makes nothing durable.
  broken.transaction(() => {});
  await expect(broken.flush()).rejects.toEqual(refusal);
  expect(() => broken.transaction(put)).toThrow(refusal);
  await expect(broken.flush()).rejects.toEqual(refusal);
  await broken.close();
});

test("after a write that the disk refused nobody is told that what trails is durable", async () => {
  trailing.transaction(put, "deferred");
  const fsyncFailed = Object.assign(new Error("disk I/O error"), { errcode: 1_034 });
  const failing = (): never => {
    throw fsyncFailed;
  };
  expect(() => trailing.transaction(failing, "now")).toThrow(refusal);
  await expect(trailing.flush()).rejects.toEqual(refusal);
  expect(() => trailing.transaction(put)).toThrow(refusal);
});

test("a connection that could not be set as a whole is set again before anything waits for the disk", () => {
  const exec = db.exec.bind(db);
  db.exec = (sql) => {
    exec(sql.split(";")[0] ?? "");
    throw new Error("no memory");
  };
  expect(() => trailing.transaction(put, "deferred")).toThrow("no memory");
  db.exec = exec;
  expect(level()).toBe(NORMAL);
  expect(trailing.transaction(put, "now")).toBe(FULL);
});

test("the log is moved into the database only by what waits, which is told when the disk refuses the log", () => {
  const pages = setting("wal_autocheckpoint");
  expect(pages).toBeGreaterThan(0);
  expect(trailing.transaction(() => setting("wal_autocheckpoint"), "deferred")).toBe(0);
  expect(trailing.transaction(() => setting("wal_autocheckpoint"), "now")).toBe(pages);
});

test("without a log that can be opened nothing trails", async () => {
  const behindLink = createDeferredFsync(db, join(folder, "elsewhere.db"), createTransaction(db, "The store"));
  expect(behindLink.transaction(put, "deferred")).toBe(FULL);
  await expect(behindLink.flush()).resolves.toBeUndefined();
  await behindLink.close();
});

test("whoever asks while it is being made durable waits for it, and for what came since", async () => {
  const order: string[] = [];
  const note = (name: string) => (): void => void order.push(name);
  trailing.transaction(put, "deferred");
  const first = trailing.flush().then(note("first"));
  const second = trailing.flush().then(note("asked meanwhile"));
  trailing.transaction(put, "deferred");
  const third = trailing.flush().then(note("with more"));
  await trailing.flush();
  await Promise.all([first, second, third]);
  expect(order).toEqual(["first", "asked meanwhile", "with more"]);
});

test("a store can be closed while it is made durable", async () => {
  trailing.transaction(put, "deferred");
  const caughtUp = trailing.flush();
  db.close();
  await trailing.close();
  await expect(caughtUp).resolves.toBeUndefined();
});
