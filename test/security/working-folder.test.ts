/**
 * No code from the working folder: no dependency executes or reads a file because it is in the folder where Errand is
 * started, or above it.
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { straceWorks } from "../../scripts/crash-tools.mjs";
import { errandCommand, type RunningErrand, startErrand } from "../cli/support/errand-process.ts";
import { createDatabase, runSql, type TestDatabase } from "../support/postgres/databases.ts";
import { type PlantedFolder, plantedFolder } from "./planted-files.ts";

vi.setConfig({ testTimeout: 120_000 });

let database: TestDatabase;
beforeEach(async () => {
  database = await createDatabase();
});
afterEach(() => database.drop());

function plant(names?: (name: string) => boolean): PlantedFolder {
  const planted = plantedFolder(names);
  onTestFinished(() => planted.remove());
  return planted;
}

/** Waits until a worker of the database has a dispatcher: by then it has loaded everything that it ever loads. */
async function dispatching(): Promise<void> {
  for (const end = performance.now() + 60_000; ; await sleep(50)) {
    const rows = await runSql(database.url, "select pool from errand.workers where pool is not null").catch(() => []);
    if (rows.length > 0) return;
    if (performance.now() > end) throw new Error("no worker has a dispatcher");
  }
}

async function stopped(running: RunningErrand): Promise<void> {
  running.kill("SIGTERM");
  const { code, err } = await running.finished;
  expect({ code, err }).toEqual({ code: 0, err: "" });
}

/** The crontabs that graphile-worker knows, and unexpected schemas of the database. */
async function strangeRows(): Promise<unknown[]> {
  const [table] = await runSql(database.url, "select to_regclass('graphile_worker._private_known_crontabs') as there");
  const known = "select identifier from graphile_worker._private_known_crontabs";
  return [
    ...(table?.["there"] === null ? [] : await runSql(database.url, known)),
    ...(await runSql(database.url, "select nspname from pg_namespace where nspname = 'hostile'")),
  ];
}

test.each([
  ["every name that is searched for", () => true],
  ["package.json keys", (name: string) => name === "package.json"],
  ["settings of the search itself", (name: string) => name.startsWith(".config.")],
  ["settings as data", (name: string) => /^\.graphile-workerrc(\.json|\.ya?ml)?$/.test(name)],
  ["settings as code", (name: string) => name.endsWith(".js") && !name.startsWith(".config.")],
  ["a crontab", (name: string) => name === "crontab"],
])("errand worker starts and executes nothing in a folder with %s", async (_what, names) => {
  const planted = plant(names);
  const args = ["worker", "--model", "offline/rehearsal", "--store", database.url];
  const running = startErrand(args, { folder: planted.folder, home: planted.home });
  await running.seen("agents: ");
  await dispatching();
  await stopped(running);
  expect(planted.executed()).toEqual([]);
  expect(await strangeRows()).toEqual([]);
});

test("errand run on a database executes nothing of the folder", async () => {
  const planted = plant();
  const args = ["run", "--model", "offline/rehearsal", "--store", database.url, "hello"];
  const { code, err } = await startErrand(args, { folder: planted.folder, home: planted.home }).finished;
  expect(code, err).toBe(0);
  expect(planted.executed()).toEqual([]);
  expect(await strangeRows()).toEqual([]);
});

test("the environment does not move the dispatcher's tables", async () => {
  const planted = plant(() => false);
  const args = ["worker", "--model", "offline/rehearsal", "--store", database.url];
  const env = { GRAPHILE_WORKER_SCHEMA: "hostile" };
  const running = startErrand(args, { folder: planted.folder, home: planted.home, env });
  await running.seen("agents: ");
  await dispatching();
  await stopped(running);
  expect(await strangeRows()).toEqual([]);
});

test("the library executes nothing of the folder", async () => {
  const planted = plant();
  const index = new URL("../../src/index.ts", import.meta.url).href;
  const code = `
    const { createErrand } = await import(${JSON.stringify(index)});
    const errand = await createErrand({ store: ${JSON.stringify(database.url)} });
    await errand.close();`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", code], {
    cwd: planted.folder,
    env: { ...process.env, HOME: planted.home },
    stdio: ["ignore", "inherit", "inherit"],
  });
  expect(await once(child, "close")).toEqual([0, null]);
  expect(planted.executed()).toEqual([]);
  expect(await strangeRows()).toEqual([]);
});

test("compiled code is stored in the user's own cache, not in a folder that others can write", async () => {
  const planted = plant(() => false);
  const temporary = join(planted.home, "tmp");
  mkdirSync(temporary);
  const env = { TMPDIR: temporary, XDG_CACHE_HOME: join(planted.home, "cache") };
  const args = ["run", "--model", "offline/rehearsal", "--store", "memory", "hello"];
  expect((await startErrand(args, { ...planted, env }).finished).code).toBe(0);
  expect(readdirSync(temporary)).toEqual([]);
  expect(readdirSync(join(planted.home, "cache", "errand"))).toEqual(["compiled"]);
});

describe.runIf(straceWorks())("seen by the system", () => {
  test("errand worker opens none of the planted files", async () => {
    const planted = plant();
    const trace = join(planted.home, "trace");
    const [node = "", ...rest] = errandCommand(["worker", "--model", "offline/rehearsal", "--store", database.url]);
    const child = spawn("strace", ["-f", "-qq", "-o", trace, "-e", "trace=open,openat,execve", node, ...rest], {
      cwd: planted.folder,
      env: { ...process.env, HOME: planted.home },
    });
    const ended = once(child, "close");
    await dispatching();
    const [worker] = await runSql(database.url, "select name from errand.workers");
    process.kill(Number(/\d+/.exec(String(worker?.["name"]))?.[0]), "SIGTERM");
    await ended;
    const opened = readFileSync(trace, "utf8");
    expect(opened).toContain("graphile-worker/dist/index.js");
    const spelled = planted.files.flatMap((file) => [file, relative(planted.folder, file)]);
    expect(spelled.filter((file) => opened.includes(`"${file}"`))).toEqual([]);
  });
});
