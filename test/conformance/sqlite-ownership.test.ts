import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, describe, expect, test } from "vitest";
import { ownerOf } from "../../src/stores/sqlite/ownership.ts";
import { birth, commitOf, part, sampleMail, treeNumber } from "./store-samples.ts";
import { temporaryStores } from "./temporary-stores.ts";

const one = treeNumber(1);
const MODULE = new URL("../../src/stores/sqlite/sqlite-store.ts", import.meta.url).href;
const { open, folder, path } = temporaryStores();
const children: ChildProcess[] = [];

afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

/** Starts another process that runs `code` with `open(options)` at hand, and waits until it has said "ready". */
async function startProcess(code: string): Promise<ChildProcess> {
  const preamble = `import { openSqliteStore } from ${JSON.stringify(MODULE)};
    const open = (options) => openSqliteStore({ path: ${JSON.stringify(path())}, ...options });`;
  const arguments_ = ["--input-type=module", "-e", `${preamble}\n${code}`];
  const child = spawn(process.execPath, arguments_, { stdio: ["ignore", "pipe", "inherit"] });
  children.push(child);
  if (child.stdout === null) throw new Error("no output");
  await once(child.stdout, "data");
  return child;
}

const OWN = `open({ access: "own", owner: { pid: process.pid, host: "HOST", command: "errand run", startedAt: 0 } });
  console.log("ready"); setInterval(() => {}, 1000);`;

describe("ownership", () => {
  test("a second owner is refused, naming the first one's process", async () => {
    const first = await startProcess(OWN);
    const named = `owned by pid ${first.pid} on HOST (errand run) since 1970-01-01T00:00:00.000Z.`;
    expect(() => open()).toThrow(
      expect.objectContaining({ code: "store-owned", message: expect.stringContaining(named) }),
    );
  });

  test("ownership ends with its process, killed or not, and leaves the store usable", async () => {
    const first = await startProcess(OWN);
    first.kill("SIGKILL");
    await once(first, "exit");
    const store = open();
    await store.commit(commitOf(birth(one)));
    expect(readdirSync(folder()).toSorted()).toEqual(["store.db", "store.db-owner", "store.db-shm", "store.db-wal"]);
  });

  test("a second owner in the same process is refused too, also by another name of the file", () => {
    open({ owner: { pid: 7, host: "h", command: "c", startedAt: 1_000 } });
    const link = join(folder(), "link.db");
    symlinkSync(path(), link);
    const named = "owned by pid 7 on h (c) since 1970-01-01T00:00:01.000Z.";
    for (const name of [path(), link]) {
      const refused = () => open({ path: name });
      expect(refused).toThrow(
        expect.objectContaining({ code: "store-owned", message: expect.stringContaining(named) }),
      );
    }
  });

  test("an owner that has not made the store yet is still an owner", () => {
    const lock = new DatabaseSync(`${path()}-owner`);
    lock.exec("pragma journal_mode = memory; begin exclusive");
    expect(() => open()).toThrow(expect.objectContaining({ code: "store-owned" }));
    expect(existsSync(path())).toBe(false);
    lock.close();
    open();
  });

  test("an owner that gave no name is another process", async () => {
    await open({ owner: { pid: 7, host: "h", command: "c" } }).close();
    open();
    expect(() => open()).toThrow(/is owned by another process\.$/);
  });

  test("who owns the store is told to whoever asks, and nobody does once the owner is gone", async () => {
    expect(ownerOf(path())).toBeNull();
    const first = await startProcess(OWN);
    expect(ownerOf(path())).toBe(`pid ${first.pid} on HOST (errand run) since 1970-01-01T00:00:00.000Z`);
    const link = join(folder(), "link.db");
    symlinkSync(path(), link);
    expect(ownerOf(link)).toContain(`pid ${first.pid}`);
    first.kill("SIGKILL");
    await once(first, "exit");
    expect(ownerOf(path())).toBeNull();
  });

  test("asking who owns the store keeps nobody from becoming the owner", async () => {
    await open().close();
    const OWNERSHIP = new URL("../../src/stores/sqlite/ownership.ts", import.meta.url).href;
    const ask = `const { ownerOf } = await import(${JSON.stringify(OWNERSHIP)});
      console.log("ready"); for (;;) ownerOf(${JSON.stringify(path())});`;
    const asking = await startProcess(ask);
    for (let times = 0; times < 100; times += 1) await open().close();
    expect(asking.exitCode).toBeNull();
  });

  test("closing releases ownership and leaves one file of data", async () => {
    const store = open({ owner: { pid: 1, host: "h", command: "c" } });
    await store.commit(commitOf(birth(one)));
    await store.close();
    expect(readdirSync(folder()).toSorted()).toEqual(["store.db", "store.db-owner"]);
    expect(await open().tree(one)).toMatchObject({ nextSeq: 2 });
  });

  test("an owner that lost its lock's file writes nothing and claims nothing after another has come", async () => {
    const lost = open();
    await lost.commit(commitOf(birth(one)));
    rmSync(`${path()}-owner`);
    const next = open();
    const writes = [
      () => lost.commit(commitOf(part(one, 2, 2, { epoch: 99 }))),
      () => lost.commit(commitOf(birth(treeNumber(2)), part(one, 2, 4, { epoch: 99 }))),
      () => lost.markFailure(one, true),
      () => lost.setAnchor({ at: 0, wall: 0, monotonic: 0, boot: "" }),
      () => lost.claim([one]),
    ];
    for (const write of writes) await expect(write()).rejects.toMatchObject({ code: "store-owned" });
    expect(await next.tree(one)).toMatchObject({ nextSeq: 2, failures: 0 });
    expect(await next.tree(treeNumber(2))).toBeNull();
    expect(await next.anchor()).toBeNull();
  });

  test("a claim writes nothing, and every owner's epoch is higher than the last one's", async () => {
    const first = open();
    await first.commit(commitOf(birth(one)));
    expect(await first.claim([one])).toMatchObject([{ epoch: 1 }]);
    await first.close();
    const second = open();
    const reader = open({ access: "read" });
    expect(await second.claim([one])).toMatchObject([{ epoch: 2 }]);
    expect(await second.claim([one])).toMatchObject([{ epoch: 2 }]);
    expect(await reader.changed()).toBe(false);
    expect(await second.tree(one)).toMatchObject({ epoch: 1 });
  });
});

describe("readers", () => {
  test("a reader reads and puts mail, and is refused every other write", async () => {
    const store = open();
    await store.commit(commitOf(birth(one)));
    const reader = open({ access: "read" });
    expect(await reader.tree(one)).toMatchObject({ nextSeq: 2 });
    expect(await reader.putMail(sampleMail(one, "m"))).toEqual({ status: "put" });
    const writes = [
      () => reader.commit(commitOf(part(one, 2, 2))),
      () => reader.claim([one]),
      () => reader.markFailure(one, true),
      () => reader.release(one),
      () => reader.replaceProjections(one, { runs: [], posts: [] }),
      () => reader.raiseFormat(2),
      () => reader.setAnchor({ at: 0, wall: 0, monotonic: 0, boot: "" }),
    ];
    for (const write of writes) await expect(write()).rejects.toMatchObject({ code: "store-read-only" });
    expect(await store.tree(one)).toMatchObject({ nextSeq: 2, failures: 0 });
  });

  test("mail from another process is seen through changed()", async () => {
    const store = open();
    expect(await store.changed()).toBe(false);
    const mail = sampleMail(one, "m", "from afar");
    await startProcess(`await open({ access: "read" }).putMail(${JSON.stringify(mail)}); console.log("ready");`);
    expect(await store.changed()).toBe(true);
    expect(await store.pendingMail(9)).toEqual([mail]);
    expect(await store.changed()).toBe(false);
  });

  test("several processes put mail while the owner commits, and none fails for another", async () => {
    const store = open({ durability: "none" });
    await store.commit(commitOf(birth(one)));
    const putMany = (name: string): string => `
      const store = open({ access: "read", durability: "none" });
      console.log("ready");
      for (let number = 0; number < 500; number += 1) {
        await store.putMail({ tree: "tree", id: "${name}" + number, hash: "hash", payload: "{}" });
      }`;
    const writers = await Promise.all([startProcess(putMany("a")), startProcess(putMany("b"))]);
    const ends = writers.map((writer) => (writer.exitCode === null ? once(writer, "exit") : [writer.exitCode]));
    for (let seq = 2; seq < 500; seq += 1) await store.commit(commitOf(part(one, seq, seq)));
    for (const end of ends) expect((await end)[0]).toBe(0);
    expect(await store.pendingMail(9_999)).toHaveLength(1_000);
  });

  test("a write that waits too long for another process's fails, and can be tried again", async () => {
    open();
    const reader = open({ access: "read", busyTimeout: 10 });
    const other = new DatabaseSync(path());
    other.exec("begin immediate");
    await expect(reader.putMail(sampleMail(one, "m"))).rejects.toMatchObject({ code: "store-busy" });
    other.close();
    expect(await reader.putMail(sampleMail(one, "m"))).toEqual({ status: "put" });
  });

  test("a reader makes no store, and says that an owner must", () => {
    const refused = () => open({ access: "read" });
    expect(refused).toThrow(
      expect.objectContaining({ code: "store-unreadable", message: expect.stringContaining("no store yet") }),
    );
    expect(readdirSync(folder())).toEqual([]);
  });

  test.each(["own", "read"] as const)("a store of an older schema is refused to %s, with a remedy", async (access) => {
    await open().close();
    const other = new DatabaseSync(path());
    other.exec("pragma user_version = 5");
    other.close();
    expect(() => open({ access })).toThrow(
      expect.objectContaining({
        code: "store-unreadable",
        message: expect.stringContaining("version 5"),
        remedy: expect.stringContaining("the version of Errand that wrote it"),
      }),
    );
  });
});
