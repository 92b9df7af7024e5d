/** Stores on disks that cannot be written, and stores that lost a file: what a person is told. */

import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, existsSync, readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { openStoreAt } from "../../src/runtime/create-runtime.ts";
import { projectFolder, records, runErrand, SLOW, startErrand, storeOf } from "../cli/support/errand-process.ts";
import { temporaryFolder } from "../support/test-errand.ts";

vi.setConfig({ testTimeout: 120_000 });

const root = process.getuid?.() === 0;
const run = (...command: readonly string[]): boolean => spawnSync(command[0] ?? "", command.slice(1)).status === 0;

/** Nothing in the folder can be written until the test ends. Root writes what it likes, unless the disk forbids it. */
function makeReadOnly(folder: string): void {
  if (root) {
    if (!run("mount", "--bind", folder, folder) || !run("mount", "-o", "remount,ro,bind", folder))
      throw new Error("the folder could not be mounted read-only");
    onTestFinished(() => void run("umount", folder));
    return;
  }
  const folders = [
    folder,
    ...readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => join(entry.parentPath, entry.name)),
  ];
  for (const one of folders) chmodSync(one, 0o555);
  onTestFinished(() => folders.forEach((one) => chmodSync(one, 0o755)));
}

/** Root needs the right to mount, which a container may not have. */
const readOnlyPossible = ((): boolean => {
  if (!root) return true;
  return run("unshare", "--mount", "mount", "--bind", import.meta.dirname, import.meta.dirname);
})();

async function worked(): Promise<{ readonly folder: string; readonly store: string; readonly tree: string }> {
  const { folder, remove } = projectFolder();
  onTestFinished(remove);
  const ran = await runErrand(["run", "say hello"], { folder });
  expect(ran.code).toBe(0);
  const store = storeOf(folder);
  const [tree] = records((await runErrand(["ps", "--all", "--json"], { folder })).out);
  return { folder, store, tree: String(tree?.["id"]) };
}

async function looksWell(folder: string, tree: string): Promise<void> {
  for (const args of [
    ["ps", "--all"],
    ["show", tree],
    ["logs", tree],
    ["export", tree],
    ["replay", tree],
  ]) {
    const { code, out, err } = await runErrand(args, { folder });
    expect({ args, code, err: code === 0 ? "" : err }).toEqual({ args, code: 0, err: "" });
    expect(out).not.toBe("");
  }
}

test.runIf(readOnlyPossible)("a store that was closed in order is read on a read-only disk", async () => {
  const { folder, store, tree } = await worked();
  makeReadOnly(dirname(store));
  await looksWell(folder, tree);
  const sent = await runErrand(["send", tree, "more"], { folder });
  expect(sent.code).not.toBe(0);
});

test.runIf(readOnlyPossible)("a store whose process died is read on a read-only disk, with its log", async () => {
  const { folder, store, tree } = await worked();
  const view = await openStoreAt(store, "own");
  await view.setAnchor((await view.anchor()) ?? { at: 0, wall: 0, monotonic: 0, boot: "" });
  const aside = temporaryFolder();
  for (const suffix of ["", "-wal"]) copyFileSync(store + suffix, join(aside, `store.db${suffix}`));
  await view.close();
  for (const suffix of ["", "-wal"]) copyFileSync(join(aside, `store.db${suffix}`), store + suffix);
  expect(existsSync(`${store}-wal`)).toBe(true);
  makeReadOnly(dirname(store));
  await looksWell(folder, tree);
});

test("a young store without its log says so, and is not taken for a new one", async () => {
  const { folder, remove } = projectFolder();
  onTestFinished(remove);
  const store = storeOf(folder);
  const running = startErrand(["run", "say hello", "--model", "slow/20000"], { folder, entry: SLOW });
  await vi.waitFor(async () => {
    const listed = await runErrand(["ps", "--all", "--json"], { folder });
    expect(records(listed.out)).toMatchObject([{ type: "tree" }]);
  }, 20_000);
  running.kill("SIGKILL");
  await running.finished;
  // As a copy that forgot the log leaves it.
  for (const suffix of ["-wal", "-shm"]) rmSync(store + suffix);
  for (const args of [["ps"], ["run", "again", "--store", store]]) {
    const { code, err } = await runErrand(args, { folder });
    expect({ args, code }).toEqual({ args, code: 1 });
    expect(err).toContain(`its log ${store}-wal is missing`);
    expect(err).toContain("put it back");
  }
});
