import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { birth, commitOf, part, sampleMail, treeNumber } from "./store-samples.ts";
import { temporaryStores } from "./temporary-stores.ts";
import { openSqliteStore } from "../../src/stores/sqlite/sqlite-store.ts";

const one = treeNumber(1);
const MODULE = new URL("../../src/stores/sqlite/sqlite-store.ts", import.meta.url).href;
const { open, folder, path } = temporaryStores();

describe("files", () => {
  test("every file is private whatever the umask, and so is a folder that was made", () => {
    for (const umask of ["0", "0777"]) {
      const home = join(folder(), `umask-${umask}`);
      mkdirSync(home);
      const code = `import { openSqliteStore } from ${JSON.stringify(MODULE)};
        import { readdirSync, statSync } from "node:fs";
        process.umask(0o${umask});
        process.chdir(${JSON.stringify(home)});
        openSqliteStore({ path: "store.db", access: "own" });
        const mode = (name) => (statSync(name).mode & 0o777).toString(8);
        console.log(JSON.stringify(readdirSync(".").map((name) => name + " " + mode(name))));`;
      const { stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", code], { encoding: "utf8" });
      expect(JSON.parse(stdout)).toEqual([
        "store.db 600",
        "store.db-owner 600",
        "store.db-shm 600",
        "store.db-wal 600",
      ]);
    }
    open({ path: join(folder(), "new", "deep", "store.db") });
    for (const made of ["new", "new/deep"]) expect(statSync(join(folder(), made)).mode & 0o777).toBe(0o700);
  });

  test("an empty file becomes a store", async () => {
    writeFileSync(path(), "");
    const store = open();
    await store.commit(commitOf(birth(one)));
    expect(await store.tree(one)).not.toBeNull();
  });

  test.each(["own", "read"] as const)(
    "a file that is not a store is refused to %s, and not changed",
    async (access) => {
      const text = join(folder(), "notes.txt");
      writeFileSync(text, "not a database ".repeat(100));
      const foreign = join(folder(), "foreign.db");
      const other = new DatabaseSync(foreign);
      other.exec("create table t (a); insert into t values (1)");
      other.close();
      const newer = join(folder(), "newer.db");
      await openSqliteStore({ path: newer, access: "own" }).close();
      const raised = new DatabaseSync(newer);
      raised.exec("pragma user_version = 999");
      raised.close();
      const codes = { [text]: "store-unreadable", [foreign]: "store-unreadable", [newer]: "store-too-new" };
      for (const [file, code] of Object.entries(codes)) {
        const before = readFileSync(file);
        expect(() => open({ path: file, access })).toThrow(
          expect.objectContaining({ code, remedy: expect.any(String) }),
        );
        expect(readFileSync(file).equals(before)).toBe(true);
        expect(existsSync(`${file}-owner`)).toBe(file === newer);
      }
    },
  );

  test.each([
    ["a folder", () => folder()],
    ["a device", () => "/dev/null"],
    ["a path() below a file", () => join(import.meta.filename, "store.db")],
    ["a name that no file can have", () => join(folder(), "a\0b")],
    ["a name that is too long", () => join(folder(), "x".repeat(300))],
    ["a folder that cannot be made", () => "/proc/errand/store.db"],
  ])("%s is refused", (_, place) => {
    for (const access of ["own", "read"] as const) {
      const refused = () => open({ path: place(), access });
      expect(refused).toThrow(expect.objectContaining({ code: "store-unreadable", remedy: expect.any(String) }));
    }
  });

  test("the owner's own mail and closing wait for the disk, also after a commit with a deferred fsync", async () => {
    const exec = vi.spyOn(DatabaseSync.prototype, "exec");
    onTestFinished(() => exec.mockRestore());
    const level = (): string | undefined =>
      exec.mock.calls.flatMap(([sql]) => /synchronous = (\d)/.exec(sql)?.[1] ?? []).at(-1);
    const store = open();
    const deferred = (seq: number): Promise<void> =>
      store.commit({ ...commitOf(part(one, seq, seq)), deferFsync: true });
    await store.commit(commitOf(birth(one)));
    await deferred(2);
    expect(level()).toBe("1");
    await store.putMail(sampleMail(one, "first"));
    expect(level()).toBe("2");
    await deferred(3);
    expect(level()).toBe("1");
    await store.close();
    expect(level()).toBe("2");
  });

  test("a lock's file that cannot be one is refused", () => {
    mkdirSync(`${path()}-owner`);
    expect(() => open()).toThrow(expect.objectContaining({ code: "store-unreadable" }));
    expect(existsSync(path())).toBe(false);
  });

  test("a lock's file that is no database is refused, and named", () => {
    writeFileSync(`${path()}-owner`, "not a database ".repeat(100));
    expect(() => open()).toThrow(
      expect.objectContaining({ code: "store-unreadable", remedy: expect.stringContaining("store.db-owner") }),
    );
  });

  test("a store that fails to open gives its lock back", async () => {
    const store = open();
    await store.close();
    const damaged = new DatabaseSync(path());
    damaged.exec("drop table meta");
    damaged.close();
    expect(() => open()).toThrow(expect.objectContaining({ code: "store-unreadable" }));
    const repaired = new DatabaseSync(path());
    repaired.exec("create table meta (name text not null primary key, value any not null) strict, without rowid");
    repaired.close();
    open();
  });

  test("a damaged table is told by every read", async () => {
    const store = open();
    const other = new DatabaseSync(path());
    other.exec("drop table snapshots");
    other.close();
    await expect(store.snapshot(one)).rejects.toMatchObject({ code: "store-failed" });
    await store.close();
    for (const access of ["own", "read"] as const) {
      expect(() => open({ access })).toThrow(
        expect.objectContaining({ code: "store-unreadable", remedy: expect.any(String) }),
      );
    }
  });
});
