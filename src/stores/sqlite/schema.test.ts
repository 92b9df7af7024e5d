import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { APPLICATION_ID, migrate, MIGRATIONS, missingTable, SCHEMA_VERSION } from "./schema.ts";
import { asTreeId } from "../../core/values/ids.ts";
import { prepareQueries } from "./queries.ts";
import { createPrepare } from "./statements.ts";
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

  test("what a store of version 2 holds is there after the later migrations, in order and whole", () => {
    migrate(db, transaction, MIGRATIONS.slice(0, 2));
    const run = (tree: number, number: number): string =>
      `insert into runs (tree, number, id, agent, parent, mode, definition, name, state, nudged, delivery, cleanup, created_at, tokens, cost, created_seq)
       values (${tree}, ${number}, 'run ${tree}.${number}', 'agent', 0, 0, 'worker', 'a name', ${number}, 0, 0, 0, 5, 6, 7, 8)`;
    db.exec(`
      insert into trees (key, id, agent, kind, status, epoch, next_seq, hash, busy, format, created_at, updated_at)
        values (1, 'one', 'a', 0, 0, 1, 3, 'h12', 0, 1, 10, 20), (900, 'two', 'b', 0, 0, 1, 2, 'h21', 0, 1, 10, 30);
      insert into journal values (900, 1, '{"rev":"1"}', null, 'h21'), (1, 2, '{}', '["s"]', 'h12'), (1, 1, '{"at":1}', null, 'h11');
      insert into trees (key, id, agent, kind, status, epoch, next_seq, hash, busy, format, created_at, updated_at)
        values (901, 'three', 'c', 0, 0, 1, 1, '', 0, 1, 10, 30), (902, 'four', 'd', 0, 0, 1, 1, '', 0, 1, 10, 30);
      insert into blobs values (1, x'aa', 'A'), (1, 'b', 'B'), (900, 'b', 'B'), (900, x'aa', 'A'), (901, x'aa', 'A');
      ${run(900, 4)}; ${run(1, 2)}; ${run(1, 1)};
      insert into outbox (tree, key, agent, text, at) values (1, '10.0', 0, 'first', 1), (900, '1.0', 0, 'other', 1), (1, '2.0', 0, 'second', 1);`);
    migrate(db, transaction);
    const queries = prepareQueries(createPrepare(db));
    const [one, two] = [asTreeId("one"), asTreeId("two")];
    expect(queries.rows(one, 1, 9)).toEqual([
      { seq: 1, head: '{"at":1}', body: null, hash: "h11" },
      { seq: 2, head: "{}", body: '["s"]', hash: "h12" },
    ]);
    expect(queries.rows(two, 1, 9)).toEqual([{ seq: 1, head: '{"rev":"1"}', body: null, hash: "h21" }]);
    expect(queries.tree(one)).toMatchObject({ nextSeq: 3, hash: "h12", updatedAt: 20 });
    expect(queries.tree(two)).toMatchObject({ nextSeq: 2, hash: "h21", updatedAt: 30 });
    expect(queries.runs({ tree: one, limit: 9 }).map(({ id, number }) => [id, number])).toEqual([
      ["run 1.1", 1],
      ["run 1.2", 2],
    ]);
    expect(queries.run("run 900.4")).toMatchObject({ tree: "two", state: "ended", tokens: 6, createdSeq: 8 });
    expect(queries.pendingOutbox(one).map(({ key }) => key)).toEqual(["10.0", "2.0"]);
    expect(queries.pendingOutbox(two)).toHaveLength(1);
    const texts = (id: string): string[] => queries.blobs(asTreeId(id)).map(({ text }) => text);
    expect(["one", "two", "three", "four"].map(texts)).toEqual([["A", "B"], ["A", "B"], ["A"], []]);
    expect(queries.blob(one, "b")).toBe("B");
    expect(queries.blob(asTreeId("three"), "b")).toBeNull();
    expect(db.prepare("select count(*) as held from blobs").get()).toEqual({ held: 2 });
    expect(db.prepare("select count(*) as sets from blob_sets").get()).toEqual({ sets: 2 });
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
