import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { birth, commitOf, part, row, sampleMail, sampleRun, treeNumber } from "./store-samples.ts";
import { type OwnerWrites, prepareOwnerWrites } from "../../src/stores/sqlite/commit.ts";
import { preparePutMail } from "../../src/stores/sqlite/put-mail.ts";
import { prepareQueries, type Queries } from "../../src/stores/sqlite/queries.ts";
import { migrate } from "../../src/stores/sqlite/schema.ts";
import { createPrepare } from "../../src/stores/sqlite/statements.ts";
import { createTransaction } from "../../src/stores/sqlite/transaction.ts";

const one = treeNumber(1);

describe("a commit in SQLite", () => {
  let db: DatabaseSync;
  let writes: OwnerWrites;
  let queries: Queries;
  beforeEach(() => {
    db = new DatabaseSync(":memory:");
    const transaction = createTransaction(db, "The store");
    migrate(db, transaction);
    writes = prepareOwnerWrites(createPrepare(db), transaction, () => {});
    queries = prepareQueries(createPrepare(db));
  });
  afterEach(() => {
    db.close();
  });

  test("a full disk keeps nothing of a commit, and the next one succeeds when there is room", () => {
    writes.commit(commitOf(birth(one)));
    const pages = Number(db.prepare("pragma page_count").get()?.["page_count"]);
    db.exec(`pragma max_page_count = ${pages + 2}`);
    const big = part(one, 2, 3, { rows: [row(2), row(3, "x".repeat(100_000))], runs: [sampleRun(1)] });
    expect(() => writes.commit(commitOf(big))).toThrow(expect.objectContaining({ code: "store-full" }));
    expect(db.isTransaction).toBe(false);
    expect(queries.tree(one)).toMatchObject({ nextSeq: 2 });
    expect(queries.rows(one, 1, 9)).toEqual([row(1)]);
    db.exec("pragma max_page_count = 100000");
    writes.commit(commitOf(big));
    expect(queries.tree(one)).toMatchObject({ nextSeq: 4 });
  });

  test("an error in the middle of a commit rolls all of it back", () => {
    writes.commit(commitOf(birth(one)));
    const broken = part(one, 2, 2, { runs: [sampleRun(1, { tokens: 0.5 })] });
    expect(() => writes.commit(commitOf(broken))).toThrow(expect.objectContaining({ code: "store-failed" }));
    expect(db.isTransaction).toBe(false);
    expect(queries.tree(one)).toMatchObject({ nextSeq: 2 });
    expect(queries.rows(one, 1, 9)).toEqual([row(1)]);
  });

  test("mail that is taken leaves no payload behind", () => {
    const mail = sampleMail(one, "m");
    preparePutMail(createPrepare(db), createTransaction(db, "The store"), () => {})(mail);
    writes.commit(commitOf(birth(one, { posts: [{ id: mail.id, hash: mail.hash, seq: 1, endedSeq: null }] })));
    expect(db.prepare("select payload, seq from posts").all()).toEqual([{ payload: null, seq: 1 }]);
  });

  test("questions that are asked often are answered from an index", () => {
    const plan = (sql: string): string =>
      db
        .prepare(`explain query plan ${sql}`)
        .all()
        .map(({ detail }) => String(detail))
        .join("; ");
    expect(
      plan(
        "select id from trees where status = 0 and wake_at is not null and wake_at <= 5 and format <= 1 order by wake_at, key",
      ),
    ).toMatch(/USING INDEX trees_waking/);
    expect(
      plan(
        "select wake_at from trees where status = 0 and wake_at is not null and format <= 1 order by wake_at limit 1",
      ),
    ).toMatch(/trees_waking/);
    expect(plan("select key from trees where status = 0 and busy = 1 and format <= 1")).toMatch(/trees_busy/);
    expect(plan("select * from trees where key < 5 and questions > 0 order by key desc limit 5")).toMatch(
      /trees_asking/,
    );
    expect(plan("select * from posts where seq is null order by arrival limit 5")).toMatch(/posts_pending/);
    const newest = plan(
      "select r.* from trees t cross join runs r on r.tree = t.key order by t.key desc, r.number limit 5",
    );
    expect(newest).not.toMatch(/TEMP B-TREE/);
  });
});
