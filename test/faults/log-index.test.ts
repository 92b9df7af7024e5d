/**
 * SQLite's log has an index, a file that grows by 32 KB for every 4,062 pages in the log. On a full disk SQLite reports
 * as a failed disk that the index cannot grow.
 */

import { appendFileSync, rmSync, statfsSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { say } from "../../src/testing/index.ts";
import { openTestErrand, temporaryFolder } from "../support/test-errand.ts";
import { canMount, mountSmallDisk } from "./recovery/site.ts";

const FRAME_BYTES = 4_120;
/** So many pages the first part of the index holds. */
const INDEXED = 4_062;
/** More than the pages of the next commits. */
const ROOM_IN_LOG = 400_000;

test.runIf(canMount)("a log whose index finds no room on the disk is a full disk, and work goes on", async () => {
  const folder = temporaryFolder();
  const disk = mountSmallDisk(100_000_000, folder, onTestFinished);
  const path = join(disk, "errand.db");
  const { errand } = await openTestErrand({ parent: () => say("heard") }, { store: path, onNotice: () => undefined });
  const ask = async (): Promise<string> => (await (await errand.start("go")).reply()).text;
  expect(await ask()).toBe("heard");

  // A reader keeps the log from beginning at its start again.
  const reader = new DatabaseSync(path);
  reader.exec("begin");
  reader.prepare("select count(*) from trees").get();
  const writer = new DatabaseSync(path);
  writer.exec("create table padding (number integer); insert into padding values (0)");
  const frames = (): number => (statSync(`${path}-wal`).size - 32) / FRAME_BYTES;
  while (frames() < INDEXED - 1) writer.exec("update padding set number = number + 1");
  writer.close();
  // The log has room, as one has that was longer before. The disk has none.
  appendFileSync(`${path}-wal`, Buffer.alloc(ROOM_IN_LOG));
  const ballast = join(disk, "ballast");
  const { bavail, bsize } = statfsSync(disk);
  appendFileSync(ballast, Buffer.alloc(bavail * bsize));

  await expect(ask()).rejects.toMatchObject({ code: "store-full" });

  rmSync(ballast);
  expect(await ask()).toBe("heard");
  reader.close();
});
