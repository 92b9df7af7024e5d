/**
 * `errand migrate`: the real command moves a store from its file to a real database, and raises the format of new
 * trees.
 */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Store } from "../../src/contracts/store.ts";
import { asTreeId } from "../../src/core/values/ids.ts";
import { JOURNAL_FORMAT } from "../../src/core/journal/revision.ts";
import { runProgram } from "../../src/cli/program.ts";
import { openStoreAt } from "../../src/runtime/create-runtime.ts";
import { createSystemWorld } from "../../src/runtime/world.ts";
import { openSqliteStore } from "../../src/stores/sqlite/sqlite-store.ts";
import { sampleMail, treeNumber } from "../conformance/store-samples.ts";
import { createDatabase, GUARDED, runSql, type TestDatabase } from "../support/postgres/databases.ts";
import {
  type Finished,
  projectFolder,
  records,
  runErrand,
  SLOW,
  startErrand,
  storeOf,
} from "./support/errand-process.ts";
import { createFakeHost } from "./support/fake-host.ts";
import { contentsOf, contentsOfFile, makeFullStore, treesOf } from "./support/full-store.ts";
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

const errand = (...args: string[]): Promise<Finished> =>
  runErrand(args, { ...project, entry: SLOW, env: { ERRAND_DATABASE_URL: "" } });
const migrate = (...more: string[]): Promise<Finished> =>
  errand("migrate", "--from", file(), "--to", database.url, ...more);
const file = (): string => storeOf(project.folder);

async function inDatabase<Result>(work: (store: Store) => Promise<Result>): Promise<Result> {
  const store = await openStoreAt(database.url, "read");
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

function sql(statement: string): void {
  const db = new DatabaseSync(file());
  db.exec(statement);
  db.close();
}

async function worked(...more: string[]): Promise<string> {
  const { out } = await errand("run", "--json", "--model", "slow/1", "the store", ...more);
  return String(records(out)[0]?.["tree"]);
}

/** A tree whose process was killed while its two runs were held back. */
async function killed(): Promise<string> {
  const running = startErrand(["run", "--json", "--model", "held/1", "the store"], { ...project, entry: SLOW });
  await running.seen('"draining"');
  running.kill("SIGKILL");
  return String(records((await running.finished).out)[0]?.["tree"]);
}

describe("moving", () => {
  test("finished and open trees continue in the database, and the file says where it was moved", async () => {
    const finished = await worked();
    const open = await killed();
    const before = await contentsOfFile(file());
    const { code, out, err } = await migrate();
    expect(err).toBe("");
    expect(out).toMatch(
      /^moved \S+\/store-1\.db to postgres:\/\/127[^ @]+: 2 trees, \d+ rows, 0 messages not yet taken, in .+\nevery row was compared, /,
    );
    expect(code).toBe(0);
    expect(await inDatabase(contentsOf)).toEqual(before);
    for (const tree of [finished, open]) {
      expect((await errand("replay", tree, "--store", database.url)).out).toContain("proven");
    }
    writeFileSync(join(project.folder, "go"), "");
    const resumed = await errand("resume", "--store", database.url);
    expect(resumed).toMatchObject({ code: 0, out: expect.stringContaining("store.ts") });
    expect((await errand("ps", "--store", database.url)).err).toContain("no tree has anything to do");
    for (const words of [["run", "the store"], ["ps"], ["send", finished, "more"], ["resume"], ["export", open]]) {
      const refused = await errand(...words);
      expect(saidOf(refused.err)).toMatchObject({ code: "store-moved", lines: 2 });
      expect(refused).toMatchObject({ code: 1, err: expect.stringMatching(/moved to postgres:\/\/127[^@]+ \(/) });
    }
    expect((await errand("doctor")).out).toMatch(/broken +store +.+ was moved to postgres:/);
    expect(await contentsOfFile(file())).toEqual(before);
    // They have continued since then: the file still has the beginning of their history.
    const again = await migrate();
    expect(again).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^nothing to do: all of .+ already \(2 trees, /),
    });
  });

  test("every kind of record arrives unchanged, and the outcome is printed as JSON", async () => {
    await worked();
    await makeFullStore(file(), { posts: 3 });
    const before = await contentsOfFile(file());
    const moved = await migrate("--json");
    expect(moved).toMatchObject({ code: 0, err: "" });
    const { trees } = before as { trees: unknown[] };
    expect(records(moved.out).at(-1)).toMatchObject({
      type: "migrated",
      from: file(),
      to: expect.stringMatching(/^postgres:\/\/127[^@]+$/),
      trees: trees.length,
      mail: 4,
      already: false,
    });
    expect(await inDatabase(contentsOf)).toEqual(before);
    expect(records((await migrate("--json")).out)).toMatchObject([{ type: "migrated", already: true, mail: 0 }]);
  });

  test("a move that is killed and started again has the same result, and no process runs half of it", async () => {
    await worked();
    copyTree(120);
    const before = await contentsOfFile(file());
    const arrived = async (): Promise<number> => {
      const there = await runSql(database.url, "select to_regclass('errand.outbox') is not null as there");
      if (there[0]?.["there"] !== true) return 0;
      const [count] = await runSql(database.url, "select count(*)::int as trees from errand.trees");
      return Number(count?.["trees"]);
    };
    for (const enough of [1, 30, 80]) {
      const moving = startErrand(["migrate", "--from", file(), "--to", database.url], { ...project, entry: SLOW });
      while ((await arrived()) < enough) await sleep(2);
      moving.kill("SIGKILL");
      expect((await moving.finished).signal).toBe("SIGKILL");
      expect(await arrived()).toBeLessThan(121);
      const [half] = await inDatabase(treesOf);
      expect(half?.status).toBe("arriving");
      const posted = await errand("resume", String(half?.id), "--store", database.url);
      expect(posted.err).toContain("nothing to resume");
    }
    expect((await errand("doctor", "--store", database.url)).out).toMatch(/^warning +move +\d+ trees of a store/m);
    const other = await worked("--store", database.url);
    const { code } = await migrate();
    expect(code).toBe(0);
    const after = (await inDatabase(contentsOf)) as { trees: { record: { id: string } }[] };
    expect({ ...after, trees: after.trees.filter(({ record }) => record.id !== other) }).toEqual(before);
    expect(after.trees).toHaveLength(122);
  });

  test("a long move prints its progress", async () => {
    await worked();
    copyTree(20);
    const world = createSystemWorld();
    const { host, written } = createFakeHost();
    // A clock that runs a hundred times as fast.
    const hurried = { ...host, world: { ...world, monotonic: () => 100 * world.monotonic() } };
    expect(await runProgram(["migrate", "--json", "--from", file(), "--to", database.url], hurried)).toBe(0);
    const passes = records(written.out).filter(({ type }) => type === "progress");
    expect(passes[0]).toMatchObject({ pass: "proving", trees: expect.any(Number), of: 21, rows: expect.any(Number) });
    expect(passes.at(-1)).toMatchObject({ pass: "carrying", of: 21 });
    const { rows } = records(written.out).at(-1) ?? {};
    expect(passes.length).toBeLessThan(Number(rows));
  });

  test("a different clock in the file is reported with its effect on deadlines", async () => {
    await worked();
    sql("update anchor set at = at - 7200000");
    expect((await migrate()).err).toMatch(
      /^the clock of the database is another one .+ deadlines come 2h.* earlier\n$/,
    );
  });
});

/** The file's tree, so many times more. */
function copyTree(times: number): void {
  for (let count = 1; count <= times; count += 1) {
    const id = treeNumber(count).replaceAll("-", "");
    sql(`
      insert into trees (id, agent, kind, status, epoch, next_seq, hash, wake_at, busy, format, created_at, updated_at, blobs)
        select x'${id}', agent, kind, status, epoch, next_seq, hash, wake_at, busy, format, created_at, updated_at, blobs
        from trees where key = 1;
      insert into journal (id, at, hash, head, body) select (${count} + 1) << 32 | seq, at, hash, head, body from journal where tree = 1;`);
  }
}

describe("refused", () => {
  const refusal = async (finished: Promise<Finished>, code: string, exit = 1): Promise<string> => {
    const { err, code: exited } = await finished;
    expect(saidOf(err)).toMatchObject({ code, lines: 2 });
    expect(exited).toBe(exit);
    return err;
  };

  test("arguments that name no file and no database", async () => {
    const { url } = database;
    for (const words of [
      [],
      ["--from", file()],
      ["--to", url],
      ["--finish", "--from", file(), "--to", url],
      ["--from", url, "--to", url],
      ["--from", url, "--to", file()],
      ["--from", file(), "--to", "other.db"],
      ["--from", "memory", "--to", url],
    ]) {
      await refusal(errand("migrate", ...words), "usage", 2);
    }
  });

  test("a missing or foreign file, and a database that is wrong, refuses or does not answer", async () => {
    await refusal(migrate(), "store-unreadable");
    await refusal(errand("migrate", "--from", "README.md", "--to", database.url), "store-unreadable");
    await worked();
    const to = (url: string): Promise<Finished> => errand("migrate", "--from", file(), "--to", url);
    await refusal(to("postgres://host"), "usage", 2);
    await refusal(to("postgres://u:secret@127.0.0.1:1/name"), "store-unreachable");
    const wrong = await refusal(to(database.url.replace(/\/\/[^@]*@/, `//${GUARDED}:wrong-word@`)), "store-refused");
    expect(wrong).not.toContain("wrong-word");
    expect((await errand("ps", "--all")).code).toBe(0);
  });

  test("a file that a living process owns", async () => {
    const running = startErrand(["run", "--model", "slow/60000", "the store"], { ...project, entry: SLOW });
    await running.seen("orchestrator opened");
    expect(await refusal(migrate(), "store-owned")).toContain("Stop that process first");
    running.kill("SIGKILL");
    await running.finished;
    expect((await migrate()).code).toBe(0);
  });

  test("a database that has other trees, or already runs the same ones", async () => {
    const tree = await worked();
    await worked("--store", database.url);
    expect(await refusal(migrate(), "store-not-empty")).toContain("holds 1 tree already");
    await runSql(database.url, `update errand.trees set id = '${tree}'`);
    expect(await refusal(migrate(), "store-not-empty")).toContain(`works on tree ${tree} already`);
    expect((await errand("ps", "--all")).code).toBe(0);
  });

  test("a damaged tree, and one of a newer format: nothing is copied", async () => {
    const tree = await worked();
    sql("update trees set format = 99");
    expect(await refusal(migrate(), "store-too-new")).toContain("in format 99");
    sql(
      "update trees set format = 1; update journal set head = replace(head, '\"type\":', '\"type\": ') where seq = 3",
    );
    expect(await refusal(migrate(), "store-corrupt")).toContain(`${tree} in The SQLite store`);
    expect(await inDatabase(treesOf)).toEqual([]);
  });

  test("a file that was moved elsewhere, and mail from a process that had opened it before", async () => {
    const tree = asTreeId(await worked());
    const sender = openSqliteStore({ path: file(), access: "read" });
    expect((await migrate()).code).toBe(0);
    await expect(sender.putMail(sampleMail(tree, "late"))).rejects.toMatchObject({ code: "store-moved" });
    await sender.close();
    const other = await createDatabase();
    const refused = errand("migrate", "--from", file(), "--to", other.url);
    expect(await refusal(refused, "store-moved")).toMatch(/was moved to postgres:\/\/127[^@]+, and tree /);
    await other.drop();
  });
});

/** There is only one format, so the tests invent others: a store that is older by one, and one that is far newer. */
describe("finishing an upgrade", () => {
  const OLDER = JOURNAL_FORMAT - 1;
  const finish = (...more: string[]): Promise<Finished> => errand("migrate", "--finish", ...more);

  test("in a file, new trees have the newest format from then on", async () => {
    await worked();
    expect(await finish()).toMatchObject({
      code: 0,
      out: `nothing to do: new trees are written in format ${JOURNAL_FORMAT}, the newest that this version knows\n`,
    });
    sql(`update meta set value = ${OLDER} where name = 'format'`);
    const old = await worked();
    expect(await finish()).toMatchObject({
      code: 0,
      out: `new trees are written in format ${JOURNAL_FORMAT} from now on; it was ${OLDER}\n`,
    });
    const young = await worked();
    const store = openSqliteStore({ path: file(), access: "read" });
    const formats = new Map<string, number>((await treesOf(store)).map((tree) => [tree.id, tree.format]));
    await store.close();
    expect([formats.get(old), formats.get(young)]).toEqual([OLDER, JOURNAL_FORMAT]);
    expect((await finish()).out).toContain("nothing to do");
  });

  test("the same in a database, printed as JSON", async () => {
    const store = ["--store", database.url];
    await worked(...store);
    await runSql(database.url, `update errand.meta set value = '${OLDER}' where name = 'format'`);
    const old = await worked(...store);
    expect(records((await finish("--json", ...store)).out)).toEqual([
      { type: "format", store: expect.stringMatching(/^postgres:/), before: OLDER, format: JOURNAL_FORMAT },
    ]);
    const young = await worked(...store);
    const formats = await inDatabase(async (view) => [
      (await view.tree(asTreeId(old)))?.format,
      (await view.tree(asTreeId(young)))?.format,
    ]);
    expect(formats).toEqual([OLDER, JOURNAL_FORMAT]);
  });

  test("a store that is newer than this version, a missing one, and one with an owner", async () => {
    expect(saidOf((await finish()).err)).toMatchObject({ code: "store-unreadable", lines: 2 });
    const tree = await worked();
    sql("update meta set value = 99 where name = 'format'");
    expect(saidOf((await finish()).err)).toMatchObject({ code: "store-too-new", lines: 2 });
    expect(await worked()).not.toBe(tree);
    sql(`update meta set value = ${OLDER} where name = 'format'`);
    const running = startErrand(["run", "--model", "slow/60000", "the store"], { ...project, entry: SLOW });
    await running.seen("orchestrator opened");
    expect(saidOf((await finish()).err)).toMatchObject({ code: "store-owned", lines: 2 });
    running.kill("SIGKILL");
    await running.finished;
  });
});
