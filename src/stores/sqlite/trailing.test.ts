import { mkdtempSync, rmSync, symlinkSync, unlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { configure } from "./open-database.ts";
import { createTrailing, type Trailing } from "./trailing.ts";
import { createTransaction } from "./transaction.ts";

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

const level = (): unknown => db.prepare("pragma synchronous").get()?.["synchronous"];
const put = (): number => {
  db.exec("insert into things values (1)");
  return Number(level());
};

test("only what trails does not wait for the disk, whether it succeeds or not", () => {
  expect(trailing.transaction(put)).toBe(FULL);
  expect(trailing.transaction(put, "trails")).toBe(NORMAL);
  expect(level()).toBe(FULL);
  const failing = (): never => {
    put();
    throw new Error("no");
  };
  expect(() => trailing.transaction(failing, "trails")).toThrow("no");
  expect(level()).toBe(FULL);
  expect(trailing.transaction(put, "waits")).toBe(FULL);
  expect(db.prepare("select count(*) as things from things").get()).toEqual({ things: 3 });
});

test("what trails is made durable; once the disk refuses that, nothing more is written", async () => {
  trailing.transaction(put, "trails");
  await expect(trailing.catchUp()).resolves.toBeUndefined();
  unlinkSync(`${path}-wal`);
  // A file that nobody can open: it leads to itself.
  symlinkSync(`${path}-wal`, `${path}-wal`);
  await expect(trailing.catchUp(), "nothing trails").resolves.toBeUndefined();
  trailing.transaction(put, "trails");
  trailing.transaction(put, "waits");
  await expect(trailing.catchUp(), "it is durable already").resolves.toBeUndefined();
  trailing.transaction(put, "trails");
  // Whatever writes nothing makes nothing durable.
  trailing.transaction(() => {});
  const refusal = expect.objectContaining({
    code: "store-failed",
    message: expect.stringContaining("not made durable"),
  });
  await expect(trailing.catchUp()).rejects.toEqual(refusal);
  expect(() => trailing.transaction(put)).toThrow(refusal);
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
  expect(order).toEqual(["first", "asked meanwhile", "with more"]);
  await Promise.all([first, second, third]);
});

test("a store that was closed meanwhile has made it durable itself", async () => {
  trailing.transaction(put, "trails");
  const caughtUp = trailing.catchUp();
  db.close();
  await expect(caughtUp).resolves.toBeUndefined();
});
