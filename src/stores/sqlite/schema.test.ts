import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { APPLICATION_ID, createSchema, missingTable, SCHEMA_VERSION } from "./schema.ts";
import { createTransaction, type Transaction } from "./connection.ts";

describe("the schema", () => {
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
    createSchema(db, transaction);
    expect(setting("user_version")).toBe(SCHEMA_VERSION);
    expect(setting("application_id")).toBe(APPLICATION_ID);
    const before = tables();
    createSchema(db, transaction);
    expect(tables()).toEqual(before);
    expect(setting("user_version")).toBe(SCHEMA_VERSION);
  });

  test("every table that is taken out of a store is missed", () => {
    createSchema(db, transaction);
    expect(missingTable(db)).toBeNull();
    const made = db.prepare("select name from sqlite_schema where type = 'table' order by rowid").all();
    for (const { name } of made.toReversed()) {
      db.exec(`alter table ${String(name)} rename to hidden`);
      expect(missingTable(db)).toBe(name);
      db.exec(`alter table hidden rename to ${String(name)}`);
    }
    expect(missingTable(db)).toBeNull();
  });

  test("a schema that cannot be created as a whole leaves the file as it was", () => {
    const failing = (): never => {
      throw new Error("no");
    };
    expect(() => createSchema(db, transaction, failing)).toThrow("no");
    expect(tables()).toEqual([]);
    expect([setting("user_version"), setting("application_id")]).toEqual([0, 0]);
    expect(db.isTransaction).toBe(false);
  });
});
