import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { configure } from "./open-database.ts";
import { createTrailing, type Trailing } from "./trailing.ts";
import { createTransaction } from "./connection.ts";

const FULL = 2;
const NORMAL = 1;
let folder: string;
let path: string;
let db: DatabaseSync;
let trailing: Trailing;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "errand-trailing-"));
  path = join(folder, "store.db");
  db = new DatabaseSync(path);
  configure(db, path, "own", "full", 100);
  db.exec("create table things (thing)");
  trailing = createTrailing(db, path, createTransaction(db, "The store"));
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
function brokenLog(): Trailing {
  const other = join(folder, "other.db");
  symlinkSync("/dev/null", `${other}-wal`);
  return createTrailing(db, other, createTransaction(db, "The store"));
}
const refusal = expect.objectContaining({ code: "store-failed" });

test("only what trails does not wait for the disk, whatever came before it and whether it succeeds or not", () => {
  expect(trailing.transaction(put)).toBe(FULL);
  expect(trailing.transaction(put, "trails")).toBe(NORMAL);
  expect(trailing.transaction(put, "trails")).toBe(NORMAL);
  expect(trailing.transaction(put)).toBe(FULL);
  const failing = (): never => {
    put();
    throw new Error("no");
  };
  expect(() => trailing.transaction(failing, "trails")).toThrow("no");
  expect(trailing.transaction(put, "waits")).toBe(FULL);
  trailing.transaction(put, "trails");
  trailing.setWaiting();
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
  for (const writing of ["trails", "trails", "waits", "waits", "trails"] as const) trailing.transaction(put, writing);
  expect(set.map((sql) => sql.includes(`synchronous = ${NORMAL}`))).toEqual([true, false, true]);
});

test("what trails is made durable; once the disk refuses that, nothing more is written", async () => {
  trailing.transaction(put, "trails");
  await expect(trailing.catchUp()).resolves.toBeUndefined();
  const broken = brokenLog();
  await expect(broken.catchUp(), "nothing trails").resolves.toBeUndefined();
  broken.transaction(put, "trails");
  broken.transaction(put, "waits");
  await expect(broken.catchUp(), "it is durable already").resolves.toBeUndefined();
  broken.transaction(put, "trails");
  // Whatever writes nothing makes nothing durable.
  broken.transaction(() => {});
  await expect(broken.catchUp()).rejects.toEqual(refusal);
  expect(() => broken.transaction(put)).toThrow(refusal);
  await expect(broken.catchUp()).rejects.toEqual(refusal);
  await broken.close();
});

test("after a write that the disk refused nobody is told that what trails is durable", async () => {
  trailing.transaction(put, "trails");
  const fsyncFailed = Object.assign(new Error("disk I/O error"), { errcode: 1_034 });
  const failing = (): never => {
    throw fsyncFailed;
  };
  expect(() => trailing.transaction(failing, "waits")).toThrow(refusal);
  await expect(trailing.catchUp()).rejects.toEqual(refusal);
  expect(() => trailing.transaction(put)).toThrow(refusal);
});

test("a connection that could not be set as a whole is set again before anything waits for the disk", () => {
  const exec = db.exec.bind(db);
  db.exec = (sql) => {
    exec(sql.split(";")[0] ?? "");
    throw new Error("no memory");
  };
  expect(() => trailing.transaction(put, "trails")).toThrow("no memory");
  db.exec = exec;
  expect(level()).toBe(NORMAL);
  expect(trailing.transaction(put, "waits")).toBe(FULL);
});

test("the log is moved into the database only by what waits, which is told when the disk refuses the log", () => {
  const pages = setting("wal_autocheckpoint");
  expect(pages).toBeGreaterThan(0);
  expect(trailing.transaction(() => setting("wal_autocheckpoint"), "trails")).toBe(0);
  expect(trailing.transaction(() => setting("wal_autocheckpoint"), "waits")).toBe(pages);
});

test("without a log that can be opened nothing trails", async () => {
  const behindLink = createTrailing(db, join(folder, "elsewhere.db"), createTransaction(db, "The store"));
  expect(behindLink.transaction(put, "trails")).toBe(FULL);
  await expect(behindLink.catchUp()).resolves.toBeUndefined();
  await behindLink.close();
});

test("whoever asks while it is being made durable waits for it, and for what came since", async () => {
  const order: string[] = [];
  const note = (name: string) => (): void => void order.push(name);
  trailing.transaction(put, "trails");
  const first = trailing.catchUp().then(note("first"));
  const second = trailing.catchUp().then(note("asked meanwhile"));
  trailing.transaction(put, "trails");
  const third = trailing.catchUp().then(note("with more"));
  await trailing.catchUp();
  await Promise.all([first, second, third]);
  expect(order).toEqual(["first", "asked meanwhile", "with more"]);
});

test("a store can be closed while it is made durable", async () => {
  trailing.transaction(put, "trails");
  const caughtUp = trailing.catchUp();
  db.close();
  await trailing.close();
  await expect(caughtUp).resolves.toBeUndefined();
});
