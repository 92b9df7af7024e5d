import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { birth, commitOf, part, row, sampleMail, sampleRun, treeNumber } from "./store-samples.ts";
import { createOwnerWrites, type OwnerWrites } from "../../src/stores/sqlite/commit.ts";
import { enterOwner, type Fence, prepareFence } from "../../src/stores/sqlite/ownership.ts";
import { preparePutMail } from "../../src/stores/sqlite/put-mail.ts";
import { createQueries } from "../../src/stores/sqlite/queries.ts";
import { createSchema } from "../../src/stores/sqlite/schema.ts";
import { createPrepare, createTransaction } from "../../src/stores/sqlite/connection.ts";

const one = treeNumber(1);

const runNow = async <Result>(work: () => Result): Promise<Result> => work();

describe("a commit in SQLite", () => {
  let db: DatabaseSync;
  let fence: Fence;
  let writes: OwnerWrites;
  let queries: ReturnType<typeof createQueries>;
  beforeEach(() => {
    db = new DatabaseSync(":memory:");
    const transaction = createTransaction(db, "The store");
    createSchema(db, transaction);
    const prepare = createPrepare(db);
    fence = prepareFence(prepare, enterOwner(db, undefined));
    writes = createOwnerWrites(prepare, transaction, fence, runNow);
    queries = createQueries(prepare, runNow);
  });
  afterEach(() => {
    db.close();
  });

  test("a full disk keeps nothing of a commit, and the next one succeeds when there is room", async () => {
    await writes.commit(commitOf(birth(one)));
    const pages = Number(db.prepare("pragma page_count").get()?.["page_count"]);
    db.exec(`pragma max_page_count = ${pages + 2}`);
    const big = part(one, 2, 3, { rows: [row(2), row(3, "x".repeat(100_000))], runs: [sampleRun(1)] });
    await expect(writes.commit(commitOf(big))).rejects.toEqual(expect.objectContaining({ code: "store-full" }));
    expect(db.isTransaction).toBe(false);
    expect(await queries.tree(one)).toMatchObject({ nextSeq: 2 });
    expect(await queries.rows(one, 1, 9)).toEqual([row(1)]);
    db.exec("pragma max_page_count = 100000");
    await writes.commit(commitOf(big));
    expect(await queries.tree(one)).toMatchObject({ nextSeq: 4 });
  });

  test("an error in the middle of a commit rolls all of it back", async () => {
    await writes.commit(commitOf(birth(one)));
    const broken = part(one, 2, 2, { runs: [sampleRun(1, { tokens: 0.5 })] });
    await expect(writes.commit(commitOf(broken))).rejects.toEqual(expect.objectContaining({ code: "row-refused" }));
    expect(db.isTransaction).toBe(false);
    expect(await queries.tree(one)).toMatchObject({ nextSeq: 2 });
    expect(await queries.rows(one, 1, 9)).toEqual([row(1)]);
  });

  test("a busy tree writes only journal rows, an idle tree also its own row; the record is always new", async () => {
    const written = (): unknown => db.prepare("select next_seq, updated_at from trees").get();
    await writes.commit(commitOf(birth(one, { busy: true, wakeAt: null })));
    await writes.commit(commitOf(part(one, 2, 3, { busy: true, wakeAt: null, at: 7_000 })));
    expect(written()).toMatchObject({ next_seq: 2 });
    expect(await queries.tree(one)).toMatchObject({ nextSeq: 4, hash: row(3).hash, updatedAt: 7_000 });
    await writes.commit(commitOf(part(one, 4, 4, { busy: false, wakeAt: null, at: 8_000 })));
    expect(written()).toEqual({ next_seq: 5, updated_at: 8_000 });
  });

  test("an idle tree that lost the end of its journal still reports where it was", async () => {
    await writes.commit(commitOf(birth(one, { busy: false })));
    await writes.commit(commitOf(part(one, 2, 4, { busy: false })));
    db.exec("delete from journal where seq > 2");
    expect(await queries.tree(one)).toMatchObject({ nextSeq: 5, hash: row(4).hash });
  });

  test("a tree that was quarantined since its last commit is open again after a commit that says so", async () => {
    await writes.commit(commitOf(birth(one, { busy: true })));
    await writes.commit(commitOf(part(one, 2, 2, { busy: true })));
    await writes.markFailure(one, true);
    expect(await queries.tree(one)).toMatchObject({ status: "quarantined" });
    await writes.commit(commitOf(part(one, 3, 3, { busy: true })));
    expect(await queries.tree(one)).toMatchObject({ status: "open", nextSeq: 4 });
  });

  test("an owner that is no longer the last one writes nothing, whether its commit has rows or not", async () => {
    await writes.commit(commitOf(birth(one)));
    enterOwner(db, undefined);
    const refused = expect.objectContaining({ code: "store-owned" });
    await expect(writes.commit(commitOf(part(one, 2, 2, { runs: [sampleRun(1)] })))).rejects.toEqual(refused);
    await expect(writes.commit(commitOf(part(one, 5, 5)))).rejects.toEqual(refused);
    await expect(writes.commit(commitOf(birth(treeNumber(2))))).rejects.toEqual(refused);
    await expect(writes.commit(commitOf(part(one, 2, 1, { wakeAt: 5 })))).rejects.toEqual(refused);
    await expect(writes.markFailure(one, true)).rejects.toEqual(refused);
    expect(await queries.trees({ limit: 9 })).toMatchObject([{ id: one, nextSeq: 2, wakeAt: null, status: "open" }]);
    expect(await queries.runs({ limit: 9 })).toEqual([]);
  });

  test("mail that is taken leaves no payload behind", async () => {
    const mail = sampleMail(one, "m");
    preparePutMail(createPrepare(db), createTransaction(db, "The store"), () => {})(mail);
    await writes.commit(commitOf(birth(one, { posts: [{ id: mail.id, hash: mail.hash, seq: 1, endedSeq: null }] })));
    expect(db.prepare("select payload, seq from posts").all()).toEqual([{ payload: null, seq: 1 }]);
  });

  test("trees share equal texts; a text is deleted when no tree has it", async () => {
    const [worker, boss, other] = ["worker", "boss", "other"].map((text) => ({ hash: `hash of ${text}`, text }));
    if (worker === undefined || boss === undefined || other === undefined) return expect.fail("three texts");
    const two = treeNumber(2);
    const three = treeNumber(3);
    const texts = async (tree: typeof one): Promise<string[]> => (await queries.blobs(tree)).map(({ text }) => text);
    const held = (): unknown => db.prepare("select count(*) as held from blobs").get()?.["held"];
    const changes = (): number => Number(db.prepare("select total_changes() as changes").get()?.["changes"]);
    // Undone with its transaction, and made again after it.
    const torn = commitOf(birth(one, { blobs: [boss, worker] }), part(two, 7, 7));
    await expect(writes.commit(torn)).rejects.toEqual(expect.objectContaining({ code: "commit-conflict" }));
    expect(held()).toBe(0);
    await writes.commit(commitOf(birth(one, { blobs: [boss, worker] })));
    const before = changes();
    await writes.commit(commitOf(birth(two)));
    const without = changes() - before;
    await writes.commit(commitOf(birth(three, { blobs: [boss, worker] })));
    expect(changes() - before, "a tree with known texts writes no more than one without texts").toBe(2 * without);
    await writes.commit(commitOf(part(three, 2, 2, { blobs: [other, worker] })));
    expect(await Promise.all([one, two, three].map(texts))).toEqual([
      ["boss", "worker"],
      [],
      ["boss", "other", "worker"],
    ]);
    expect(await queries.blob(one, other.hash)).toBeNull();
    expect(await queries.blob(three, other.hash)).toBe("other");
    expect(held()).toBe(3);
    await writes.commit(commitOf(part(one, 2, 2, { at: 9_000 })));
    expect(await writes.expire(9_000, 100)).toEqual([two, three]);
    expect([await texts(one), await texts(three), held()]).toEqual([["boss", "worker"], [], 2]);
    await writes.commit(commitOf(birth(treeNumber(4), { blobs: [worker] })));
    expect(await writes.expire(9_001, 100)).toEqual([treeNumber(4), one]);
    expect(held()).toBe(0);
    await writes.commit(commitOf(birth(treeNumber(5), { blobs: [boss, worker] })));
    expect(await texts(treeNumber(5))).toEqual(["boss", "worker"]);
  });

  test("no statement scans rows that grow with the work", () => {
    const asked: string[] = [];
    const listed = (sql: string): (() => never) => {
      asked.push(sql);
      return () => expect.fail("it must not be run");
    };
    createQueries(listed, runNow);
    createOwnerWrites(listed, createTransaction(db, "The store"), fence, runNow);
    preparePutMail(listed, createTransaction(db, "The store"), () => {});
    expect(asked.length).toBeGreaterThan(50);
    const plan = (sql: string): string =>
      db
        .prepare(`explain query plan ${sql}`)
        .all()
        .map(({ detail }) => String(detail))
        .join("; ");
    // What waits, is live or is not taken is few, and retention looks at all trees once an hour.
    const few = /trees_asking|runs_live|from outbox|seq is null|where key in|updated_at < \?/;
    // So does it for texts that no tree has any more.
    const hourly = /^delete from blob/;
    for (const sql of asked.filter((one) => !hourly.test(one))) {
      const words = `${sql}: ${plan(sql)}`;
      expect(words).not.toMatch(/SCAN (journal|j|runs|blobs|b|m|snapshots)\b|AUTOMATIC|BLOOM/);
      if (!few.test(sql)) expect(words).not.toMatch(/SCAN (posts|outbox)\b|TEMP B-TREE/);
    }
    const plans = asked.map(plan).join("; ");
    for (const index of ["trees_asking", "trees_busy", "trees_waking", "runs_live", "runs_id", "runs_agent"])
      expect(plans).toContain(`USING INDEX ${index}`);
  });
});
