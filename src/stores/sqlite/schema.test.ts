import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { APPLICATION_ID, migrate, MIGRATIONS, missingTable, SCHEMA_VERSION } from "./schema.ts";
import { createTransaction, type Transaction } from "./transaction.ts";

describe("migrations", () => {
  let db: DatabaseSync;
  let transaction: Transaction;
  beforeEach(() => {
    db = new DatabaseSync(":memory:");
    transaction = createTransaction(db, "The store");
  });
  afterEach(() => {
    db.close();
  });
  const setting = (name: string): unknown => Object.values(db.prepare(`pragma ${name}`).get() ?? {})[0];
  const tables = (): unknown[] =>
    db
      .prepare("select name from sqlite_schema order by name")
      .all()
      .map(({ name }) => name);

  test("an empty file becomes a store of the current version, and stays one", () => {
    migrate(db, transaction);
    expect(setting("user_version")).toBe(SCHEMA_VERSION);
    expect(setting("application_id")).toBe(APPLICATION_ID);
    const before = tables();
    migrate(db, transaction);
    expect(tables()).toEqual(before);
    expect(setting("user_version")).toBe(SCHEMA_VERSION);
  });

  test("every table that is taken out of a store is missed", () => {
    migrate(db, transaction);
    expect(missingTable(db)).toBeNull();
    const made = db.prepare("select name from sqlite_schema where type = 'table' order by rowid").all();
    for (const { name } of made.toReversed()) {
      db.exec(`alter table ${String(name)} rename to hidden`);
      expect(missingTable(db)).toBe(name);
      db.exec(`alter table hidden rename to ${String(name)}`);
    }
    expect(missingTable(db)).toBeNull();
  });

  test("a store has the migrations that it lacks, in order", () => {
    migrate(db, transaction);
    migrate(db, transaction, [...MIGRATIONS, "create table second (a)", "insert into second values (3)"]);
    expect(setting("user_version")).toBe(SCHEMA_VERSION + 2);
    expect(db.prepare("select a from second").all()).toHaveLength(1);
  });

  test("a migration that fails leaves the store as it was, with none of those before it either", () => {
    migrate(db, transaction);
    const migrations = [
      ...MIGRATIONS,
      "create table first (a)",
      "create table second (a); insert into nowhere values (1)",
    ];
    expect(() => migrate(db, transaction, migrations)).toThrow(expect.objectContaining({ code: "store-failed" }));
    expect(setting("user_version")).toBe(SCHEMA_VERSION);
    expect(tables()).not.toContain("first");
    expect(tables()).not.toContain("second");
    expect(db.isTransaction).toBe(false);
  });
});
