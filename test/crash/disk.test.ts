/** Scenario 33: a disk that is full, a folder that may not be written, an fsync that fails. */

import { spawnSync } from "node:child_process";
import { appendFileSync, chmodSync, mkdirSync, readdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { crashTools } from "../../scripts/crash-tools.mjs";
import { ERROR_CODES } from "../../src/index.ts";
import { evidenceOf, recordOf, text } from "./evidence.ts";
import { judgeCrashed } from "./judge-crashed.ts";
import { judgeStore } from "./judge.ts";
import { finish, run, scratchFolder, type Site, siteIn, start, type StartOptions, twoAtATime } from "./processes.ts";
import { trustChangedStore } from "../support/trusted-store.ts";
import { tracedWith } from "./tracer.ts";

const TIMEOUT_MS = 180_000;
/** Each of these makes a good many writes fail, as a full disk does. */
const FULL_WRITES = 6;
const FULL_EVERY = 36;
const FULL_TIMES = 8;
/** All fsyncs of folders are among the first so many. */
const FOLDER_FSYNCS = 16;
const tools = crashTools();
const scratch = scratchFolder();
afterAll(scratch.remove);

function newSite(name: string): Site {
  const folder = join(scratch.path, name);
  mkdirSync(folder);
  return siteIn(folder);
}

async function expectWhole(site: Site, conversations = 1): Promise<void> {
  expect(await judgeCrashed(site, evidenceOf(site)), site.folder).toEqual([]);
  await finish(site, { conversations });
  expect(await judgeStore(site.store, evidenceOf(site)), site.folder).toEqual([]);
}

/** A failure that the program told has one of Errand's codes. */
function codeOf(site: Site): string {
  const failure = recordOf(site.record).findLast((line) => "failed" in line);
  expect(Object.keys(ERROR_CODES), JSON.stringify(failure)).toContain(failure?.["failed"]);
  return failure === undefined ? "" : text(failure, "failed");
}

test.runIf(tools.strace)(
  "after any fsync that fails the process takes nothing more, and the next one finds all that was acknowledged",
  async () => {
    let stopped = 0;
    await twoAtATime(async (index) => {
      const site = newSite(`fsync-${index + 1}`);
      const how = tracedWith("fsync,fdatasync", index + 1, { error: "EIO", times: 1 });
      const { code } = await run(site, {}, how);
      const record = recordOf(site.record);
      if (record.every((line) => !("failed" in line))) {
        // Past the last fsync, or one whose failure SQLite need not mind (that of a folder).
        expect(code, site.folder).toBe(0);
        expect(await judgeStore(site.store, evidenceOf(site))).toEqual([]);
        return index < FOLDER_FSYNCS;
      }
      expect(code).toBe(2);
      codeOf(site);
      const after = record.slice(record.findIndex((line) => "failed" in line));
      expect(after.filter((line) => "opened" in line || "posted" in line || "replied" in line)).toEqual([]);
      if (after.some((line) => "afterwards" in line)) {
        expect(after.find((line) => "afterwards" in line)?.["afterwards"]).toMatch(/^(store-failed|shutting-down)$/);
        stopped += 1;
      }
      await expectWhole(site);
      return true;
    });
    expect(stopped, "processes that stopped at work").toBeGreaterThan(8);
    process.stdout.write(`failed fsyncs: ${stopped} processes stopped at work\n`);
  },
  TIMEOUT_MS,
);

test.runIf(tools.strace)(
  "while writes find no room new work is refused; with room again the same process goes on to the end",
  async () => {
    let waited = 0;
    await twoAtATime(async (index) => {
      const site = newSite(`full-${index + 1}`);
      const how = tracedWith("pwrite64", 1 + index * FULL_EVERY, { error: "ENOSPC", times: FULL_WRITES });
      const { code } = await run(site, {}, how);
      if (code === 2) expect(codeOf(site)).toMatch(/^store-(full|unreadable)$/);
      else expect(code).toBe(0);
      if (recordOf(site.record).some((line) => "full" in line)) waited += 1;
      await expectWhole(site);
      return index < FULL_TIMES - 2;
    });
    process.stdout.write(`full disk: ${waited} of ${FULL_TIMES} processes were refused and asked again\n`);
  },
  TIMEOUT_MS,
);

/** A file system of so many bytes, mounted for this test. Null where this user may not mount. */
function smallDisk(name: string, bytes: number): string | null {
  const folder = join(scratch.path, name);
  mkdirSync(folder);
  if (spawnSync("mount", ["-t", "tmpfs", "-o", `size=${bytes}`, "tmpfs", folder], { stdio: "ignore" }).status !== 0) {
    process.stdout.write(
      "\nNOTHING CAN BE MOUNTED HERE: a size limit and file modes stand for a full and a locked disk.\n\n",
    );
    return null;
  }
  onTestFinished(() => void spawnSync("umount", [folder], { stdio: "ignore" }));
  return folder;
}

test(
  "a disk that is really full: refused with a code, nothing acknowledged is lost, and it goes on when there is room",
  async ({ skip }) => {
    const disk = smallDisk("disk", 1_500_000);
    if (disk === null) return skip("nothing can be mounted here");
    const outside = newSite("outside");
    const site: Site = { ...outside, store: join(disk, "errand.db") };
    await finish(site);
    const ballast = join(disk, "ballast");
    fill(disk, ballast, 0);
    expect((await run(site, { conversations: 2 })).code).toBe(2);
    expect(codeOf(site)).toMatch(/^store-(full|unreadable)$/);
    rmSync(ballast);
    fill(disk, ballast, 260_000);
    const { process, exit } = start(site, { conversations: 3 });
    onTestFinished(() => void process.kill("SIGKILL"));
    await untilStuck(site);
    expect(recordOf(site.record).filter((line) => "done" in line)).toHaveLength(1);
    expect(await judgeCrashed(site, evidenceOf(site))).toEqual([]);
    rmSync(ballast);
    expect(await exit).toEqual({ code: 0, signal: null });
    expect(await judgeStore(site.store, evidenceOf(site))).toEqual([]);
  },
  TIMEOUT_MS,
);

/** What is left where there is neither strace nor a disk of one's own. SQLite itself says that there is no room. */
test(
  "a store that cannot grow: new work is refused, nothing acknowledged is lost, and the process continues when it can",
  async () => {
    const site = newSite("pages");
    const pagesFile = join(site.folder, "pages");
    await finish(site);
    withoutFreePages(site.store);
    await trustChangedStore(site.store);
    writeFileSync(pagesFile, "1");
    const { process, exit } = start(site, { conversations: 3, pagesFile });
    onTestFinished(() => void process.kill("SIGKILL"));
    await untilStuck(site);
    expect(recordOf(site.record).filter((line) => "full" in line)).not.toEqual([]);
    expect(recordOf(site.record).filter((line) => "done" in line)).toHaveLength(1);
    expect(await judgeCrashed(site, evidenceOf(site))).toEqual([]);
    writeFileSync(pagesFile, "1000000");
    expect(await exit).toEqual({ code: 0, signal: null });
    expect(await judgeStore(site.store, evidenceOf(site))).toEqual([]);
  },
  TIMEOUT_MS,
);

/** Migrations leave some, in which new work would find room. */
function withoutFreePages(path: string): void {
  const store = new DatabaseSync(path);
  store.exec("vacuum");
  store.close();
}

/**
 * Resolves when the program has told nothing for a while but that the disk is full: results wait for room, new work is
 * refused.
 */
async function untilStuck(site: Site): Promise<void> {
  const told = (): number => recordOf(site.record).filter((line) => !("full" in line)).length;
  for (let before = -1; before < told(); await sleep(1_500)) before = told();
}

/** Writes until so many bytes are left. */
function fill(disk: string, ballast: string, left: number): void {
  for (;;) {
    const { bavail, bsize } = statfsSync(disk);
    const room = bavail * bsize - left;
    if (room < bsize) return;
    appendFileSync(ballast, Buffer.alloc(Math.min(room, 65_536)));
  }
}

/** Root may write whatever a folder's mode says, unless it gave that right up. */
const BOUND_BY_MODES: StartOptions =
  process.getuid?.() === 0 ? { under: ["setpriv", "--bounding-set=-dac_override"] } : {};

test(
  "a disk or folder that may not be written is refused with a code, and what is in it is there when it may be again",
  async () => {
    const disk = smallDisk("locked", 4_000_000);
    const folder = disk ?? join(scratch.path, "folder");
    if (disk === null) mkdirSync(folder);
    const how = disk === null ? BOUND_BY_MODES : {};
    const setWritable = (writable: boolean): void => {
      if (disk !== null) return void spawnSync("mount", ["-o", `remount,${writable ? "rw" : "ro"}`, folder]);
      for (const name of readdirSync(folder)) chmodSync(join(folder, name), writable ? 0o600 : 0o400);
      chmodSync(folder, writable ? 0o700 : 0o500);
    };
    const site: Site = { ...newSite("beside"), store: join(folder, "errand.db") };
    setWritable(false);
    expect((await run(site, {}, how)).code).toBe(2);
    expect(codeOf(site)).toBe("store-unreadable");
    setWritable(true);
    expect((await run(site, { kill: { when: "after", commit: 6 } }, how)).signal).toBe("SIGKILL");
    setWritable(false);
    expect((await run(site, {}, how)).code).toBe(2);
    expect(codeOf(site)).toMatch(/^store-(failed|unreadable)$/);
    setWritable(true);
    await expectWhole(site);
  },
  TIMEOUT_MS,
);
