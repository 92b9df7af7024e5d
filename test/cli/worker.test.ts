/** `errand worker` as a process beside others: what it prints, what it takes over, how it is stopped. */

import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createDatabase, GUARDED, GUARDED_PASSWORD, runSql, type TestDatabase } from "../support/postgres/databases.ts";
import {
  type Finished,
  projectFolder,
  records,
  type RunningErrand,
  SLOW,
  startErrand,
} from "./support/errand-process.ts";
import { saidOf } from "./support/worked-project.ts";

vi.setConfig({ testTimeout: 120_000 });

const project = { folder: "", remove: (): void => undefined };
let database: TestDatabase;
const started: RunningErrand[] = [];

beforeEach(async () => {
  Object.assign(project, projectFolder());
  database = await createDatabase();
});
afterEach(async () => {
  for (const one of started.splice(0)) {
    one.kill("SIGKILL");
    await one.finished;
  }
  project.remove();
  await database.drop();
});

function start(args: readonly string[], url = database.url): RunningErrand {
  const running = startErrand(args, { folder: project.folder, entry: SLOW, env: { ERRAND_DATABASE_URL: url } });
  started.push(running);
  return running;
}

const errand = (...args: readonly string[]): Promise<Finished> => start(args).finished;

async function worker(...args: readonly string[]): Promise<RunningErrand> {
  const running = start(["worker", "--model", "slow/100", "--json", ...args]);
  await running.seen('"type":"worker"');
  return running;
}

async function onlyTree(): Promise<string> {
  const [row] = await runSql(database.url, "select id from errand.trees");
  return String(row?.["id"]);
}

async function ownerOf(tree: string): Promise<unknown> {
  const [row] = await runSql(database.url, `select owner from errand.trees where id = '${tree}'`);
  return row?.["owner"];
}

async function until(what: string, done: () => Promise<boolean>, withinMs = 60_000): Promise<void> {
  for (const end = performance.now() + withinMs; !(await done()); await sleep(50)) {
    if (performance.now() > end) throw new Error(`it never came to pass: ${what}`);
  }
}

/** Kills `errand run` while its tree works; returns the tree. */
async function killedRun(model: string): Promise<string> {
  const run = start(["run", "--json", "--model", model, "where is the store opened?"]);
  await run.seen('"type":"turn-started"');
  run.kill("SIGKILL");
  await run.finished;
  return onlyTree();
}

const atRest = async (tree: string): Promise<boolean> => (await errand("result", tree)).code === 0;

test("says in one line what it does, without the password, and releases its trees on SIGTERM", async () => {
  await runSql(database.url, `grant create on database ${new URL(database.url).pathname.slice(1)} to ${GUARDED}`);
  const url = database.url.replace(/\/\/[^@]*@/, `//${GUARDED}:${GUARDED_PASSWORD}@`);
  const running = start(["worker", "--model", "slow/100"], url);
  await running.seen("agents: ");
  running.kill("SIGTERM");
  const { code, out, err } = await running.finished;
  expect(out).toMatch(
    /^worker pid \d+ on \S+ takes trees of postgres:\/\/127.0.0.1:\d+\/\S+ with slow\/100 \(.*\); agents: .*orchestrator.*\nstopped; its trees are let go\n$/,
  );
  expect(out + err).not.toContain(GUARDED_PASSWORD);
  expect(code).toBe(0);
  expect(await runSql(database.url, "select * from errand.workers")).toEqual([]);
});

test("a file is refused: workers need a database", async () => {
  const { code, err } = await errand("worker", "--store", "some.db");
  expect(saidOf(err)).toMatchObject({ code: "usage", lines: 2 });
  expect(code).toBe(2);
});

test("continues the tree of a killed process, and answers messages to it", async () => {
  const first = await worker();
  const tree = await killedRun("slow/500");
  const killed = performance.now();
  const dead = await ownerOf(tree);
  await until("taken over", async () => (await ownerOf(tree)) !== dead);
  process.stdout.write(`taken over ${Math.round(performance.now() - killed)} ms after the kill\n`);
  await until("at rest", () => atRest(tree));
  const sent = await errand("send", "--json", tree, "and the tests?");
  expect(records(sent.out)[0]).toMatchObject({ type: "sent", by: "mail", taken: true });
  await until("answered", async () => {
    const [row] = await runSql(database.url, "select count(*)::int as open from errand.posts where ended_seq is null");
    return row?.["open"] === 0;
  });
  await until("at rest again", () => atRest(tree));
  expect((await errand("replay", tree)).out).toContain("proven");
  first.kill("SIGTERM");
  expect((await first.finished).code).toBe(0);
});

test("a run that another process cancels ends in the worker that runs it", async () => {
  const running = await worker();
  const tree = await killedRun("slow/2000");
  await until("taken over", async () => {
    const [row] = await runSql(
      database.url,
      "select count(*)::int as there from errand.workers w join errand.trees t on t.owner = w.id where w.pool is not null",
    );
    return row?.["there"] === 1;
  });
  expect((await errand("cancel", tree)).code).toBe(0);
  await until("at rest", async () => {
    const [row] = await runSql(database.url, "select busy from errand.trees");
    return row?.["busy"] === false;
  });
  expect((await errand("replay", tree)).out).toContain("proven");
  running.kill("SIGTERM");
  expect((await running.finished).code).toBe(0);
});

test("a paused worker has lost its tree to another one, writes nothing, and says so", async () => {
  const first = await worker();
  const tree = await killedRun("slow/20000");
  await until("taken by the first", async () => {
    const [row] = await runSql(
      database.url,
      "select count(*)::int as there from errand.workers w join errand.trees t on t.owner = w.id where w.pool is not null",
    );
    return row?.["there"] === 1;
  });
  const second = await worker();
  first.kill("SIGSTOP");
  const stopped = performance.now();
  const paused = await ownerOf(tree);
  await until("taken by the second", async () => (await ownerOf(tree)) !== paused);
  process.stdout.write(`taken over ${Math.round(performance.now() - stopped)} ms after the pause\n`);
  const [before] = await runSql(database.url, "select epoch from errand.trees");
  first.kill("SIGCONT");
  await first.seen('"code":"tree-taken"');
  expect(await runSql(database.url, "select epoch from errand.trees")).toEqual([before]);
  for (const one of [first, second]) {
    one.kill("SIGTERM");
    expect((await one.finished).code).toBe(0);
  }
});
