import { Client } from "pg";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Store } from "../../src/contracts/store.ts";
import { createSystemWorld } from "../../src/runtime/world.ts";
import { openPostgresStore } from "../../src/stores/postgres/postgres-store.ts";
import { createDatabase, runSql, type TestDatabase } from "../support/postgres/databases.ts";
import { birth, commitOf, part, row, sampleMail, sampleRun, treeNumber } from "../conformance/store-samples.ts";

const [one, two] = [treeNumber(1), treeNumber(2)];
let database: TestDatabase;
const handles: Store[] = [];

async function open(): Promise<Store> {
  const store = await openPostgresStore({ url: database.url, access: "own", world: createSystemWorld() });
  handles.push(store);
  return store;
}

beforeEach(async () => {
  database = await createDatabase();
});
afterEach(async () => {
  for (const store of handles.splice(0)) await store.close();
  await database.drop();
});

describe("a commit in PostgreSQL", () => {
  test("an error in the middle of a commit rolls all of it back, and the next one succeeds", async () => {
    const store = await open();
    await store.commit(commitOf(birth(one)));
    const broken = part(one, 2, 2, { runs: [sampleRun(1, { tokens: 0.5 })] });
    await expect(store.commit(commitOf(broken))).rejects.toMatchObject({ code: "row-refused" });
    expect(await store.tree(one)).toMatchObject({ nextSeq: 2 });
    expect(await store.rows(one, 1, 9)).toEqual([row(1)]);
    await store.commit(commitOf(part(one, 2, 2)));
  });

  test("mail that is taken leaves no payload behind", async () => {
    const store = await open();
    const mail = sampleMail(one, "m");
    await store.putMail(mail);
    await store.commit(commitOf(birth(one, { posts: [{ id: mail.id, hash: mail.hash, seq: 1, endedSeq: null }] })));
    expect(await runSql(database.url, "select payload, seq::int from errand.posts")).toEqual([
      { payload: null, seq: 1 },
    ]);
  });

  test("mail is put while a commit holds its tree's row", async () => {
    const store = await open();
    await store.commit(commitOf(birth(one)));
    const other = new Client({ connectionString: database.url });
    await other.connect();
    await other.query("begin");
    await other.query("select * from errand.trees for update");
    expect(await store.putMail(sampleMail(one, "m"))).toEqual({ status: "put" });
    await other.end();
  });

  test("mail that commits later than mail put after it is told of all the same", async () => {
    const store = await open();
    await store.commit(commitOf(birth(one)));
    await store.changed();
    const slow = new Client({ connectionString: database.url });
    await slow.connect();
    await slow.query("begin");
    await slow.query("insert into errand.posts (tree, id, hash, payload) values ($1, 'early', 'h', 'p')", [one]);
    await store.putMail(sampleMail(one, "late"));
    expect(await store.changed()).toBe(true);
    await slow.query("commit");
    await slow.end();
    expect(await store.changed()).toBe(true);
    expect((await store.pendingMail(9)).map(({ id }) => id)).toEqual(["early", "late"]);
  });

  test("mail that is put at once is put once for each id, and a reuse is told from a repetition", async () => {
    const store = await open();
    const told = await open();
    const names = Array.from({ length: 40 }, (_, index) => `m${index}`);
    const other = { ...sampleMail(two, "m0"), hash: "another" };
    const put = await Promise.all([
      ...names.map((name) => store.putMail(sampleMail(two, name))),
      ...names.map((name) => store.putMail(sampleMail(two, name))),
      store.putMail(other),
      ...names.map((name) => told.putMail(sampleMail(one, name))),
      ...names.toReversed().map((name) => store.putMail(sampleMail(one, name))),
    ]);
    const statuses = put.map(({ status }) => status);
    expect(new Set(statuses.slice(0, 40))).toEqual(new Set(["put"]));
    expect(new Set(statuses.slice(40, 80))).toEqual(new Set(["known"]));
    expect(statuses[80]).toBe("id-reused");
    expect(statuses.slice(81).toSorted()).toEqual([...names.map(() => "known"), ...names.map(() => "put")]);
    expect(await store.pendingMail(99)).toHaveLength(80);
  });

  test("a commit is refused whole for a run or a post of its second tree, and says which", async () => {
    const store = await open();
    const mail = sampleMail(two, "m");
    await store.putMail(mail);
    await store.commit(commitOf(birth(one), birth(two)));
    const patched = part(two, 2, 2, { runs: [{ number: 7, tokens: 1 }] });
    await expect(store.commit(commitOf(part(one, 2, 2), patched))).rejects.toMatchObject({
      code: "run-unknown",
      details: { tree: two, run: 7 },
    });
    const reused = part(two, 2, 2, { posts: [{ id: mail.id, hash: "another", seq: 2, endedSeq: null }] });
    await expect(store.commit(commitOf(part(one, 2, 2), reused))).rejects.toMatchObject({
      code: "id-reused",
      details: { tree: two, id: mail.id },
    });
    await expect(store.commit(commitOf(part(one, 2, 2), part(two, 3, 3)))).rejects.toMatchObject({
      code: "commit-conflict",
      message: expect.stringContaining("its next row is 2, not 3"),
    });
    expect(await store.tree(one)).toMatchObject({ nextSeq: 2 });
    await store.commit(commitOf(part(one, 2, 2), part(two, 2, 2)));
  });

  test("many trees in one commit are written whole, whoever else commits", async () => {
    const stores = [await open(), await open(), await open()];
    await Promise.all(
      stores.map(async (store, index) => {
        const trees = Array.from({ length: 20 }, (_, number) => treeNumber(100 * (index + 1) + number));
        await store.commit(commitOf(...trees.map((tree) => birth(tree))));
        for (let seq = 2; seq < 12; seq += 1)
          await store.commit(commitOf(...trees.map((tree) => part(tree, seq, seq))));
      }),
    );
    const [counted] = await runSql(
      database.url,
      "select count(*)::int as rows, count(distinct tree)::int as trees, max(seq)::int as last from errand.journal",
    );
    expect(counted).toEqual({ rows: 660, trees: 60, last: 11 });
  });
});

describe("trees of several workers", () => {
  test("a tree of a living worker is not claimed by another, which sees neither its mail nor its timer", async () => {
    const [first, second] = [await open(), await open()];
    await first.commit(commitOf(birth(one, { wakeAt: 10 })));
    await second.commit(commitOf(birth(two, { wakeAt: 20 })));
    expect(await second.claim([one, two])).toMatchObject([{ id: two, epoch: 2 }]);
    await first.putMail(sampleMail(one, "m"));
    expect(await second.pendingMail(9)).toEqual([]);
    expect(await first.pendingMail(9)).toHaveLength(1);
    expect(await second.nextWake()).toBe(20);
    expect(await first.due(30)).toEqual([one]);
    expect(await second.unfinished(30)).toEqual([two]);
  });

  test("a worker that closed has left its trees to the others, and writes them no more", async () => {
    const [first, second] = [await open(), await open()];
    await first.commit(commitOf(birth(one, { busy: true })));
    await first.close();
    expect(await second.unfinished(0)).toEqual([one]);
    expect(await second.claim([one])).toMatchObject([{ epoch: 2 }]);
  });

  test("a worker whose tree was taken over is refused by the epoch", async () => {
    const [first, second] = [await open(), await open()];
    await first.commit(commitOf(birth(one)));
    // As if it had been silent for longer than the lease.
    await runSql(database.url, "update errand.trees set owner = null");
    await second.claim([one]);
    await expect(first.commit(commitOf(part(one, 2, 2)))).rejects.toMatchObject({ code: "commit-conflict" });
    await second.commit(commitOf(part(one, 2, 2, { epoch: 2 })));
    expect(await second.rows(one, 1, 9)).toHaveLength(2);
  });
});
