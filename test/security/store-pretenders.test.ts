/**
 * Stores that pretend to be the user's own, or contain what Errand never writes, do not run, and reading them is safe.
 */

import { chmodSync, existsSync, linkSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test, vi } from "vitest";
import { saidOf } from "../cli/support/worked-project.ts";
import { errand, harmComes, type HostileFolder, hostileFolder, SHIPPED } from "./support/hostile-store.ts";

vi.setConfig({ testTimeout: 120_000 });

describe("a store that pretends to be one of the user's own", () => {
  /** The user's own store in the folder, created by the user's Errand and closed cleanly. */
  async function ownStore(site: HostileFolder, name: string): Promise<string> {
    expect((await errand(site, ["run", "--store", name, "hello"])).code).toBe(0);
    return join(site.folder, name);
  }
  const meta = (path: string, name: string): string => {
    const db = new DatabaseSync(path, { readOnly: true });
    try {
      return String(db.prepare("select value from meta where name = ?").get(name)?.["value"]);
    } finally {
      db.close();
    }
  };
  const copyOver = (from: string, to: string): void => writeFileSync(to, readFileSync(from));
  const refused = async (site: HostileFolder, store: string): Promise<string> => {
    const { err } = await errand(site, ["run", "--store", store, "hello"]);
    expect(await harmComes(site)).toBe(false);
    expect(saidOf(err)).toMatchObject({ code: "store-not-trusted", lines: 2 });
    return err;
  };

  test("with the same id, in its place", async () => {
    const site = await hostileFolder();
    const own = await ownStore(site, "own.db");
    const id = meta(own, "id");
    const shipped = join(site.folder, SHIPPED);
    const db = new DatabaseSync(shipped);
    db.prepare("update meta set value = ? where name = 'id'").run(id);
    db.close();
    await refused(site, SHIPPED);
    copyOver(shipped, own);
    await refused(site, "own.db");
  });

  test("with the same id and seal: a copy that was changed and put back", async () => {
    const site = await hostileFolder();
    const own = await ownStore(site, "own.db");
    const copy = join(site.folder, "copy.db");
    copyOver(own, copy);
    await refused(site, "copy.db");
    const db = new DatabaseSync(copy);
    db.exec("update trees set busy = 1");
    db.close();
    copyOver(copy, own);
    expect(await refused(site, "own.db")).toContain("changed or replaced since your Errand closed it");
  });

  test("by a log beside a cleanly closed store, which SQLite would replay", async () => {
    const site = await hostileFolder();
    const own = await ownStore(site, "own.db");
    const copy = join(site.folder, "copy.db");
    copyOver(own, copy);
    const db = new DatabaseSync(copy);
    db.exec("pragma wal_autocheckpoint = 0; update trees set busy = 1");
    copyOver(`${copy}-wal`, `${own}-wal`);
    db.close();
    expect(statSync(`${own}-wal`).size).toBeGreaterThan(0);
    expect(await refused(site, "own.db")).toContain("a log that your Errand did not write");
  });

  test("by a log or a journal where the user is about to create a store", async () => {
    const site = await hostileFolder();
    for (const suffix of ["-wal", "-journal"]) {
      writeFileSync(join(site.folder, `new.db${suffix}`), "something");
      await refused(site, "new.db");
      expect(existsSync(join(site.folder, "new.db"))).toBe(false);
      writeFileSync(join(site.folder, `new.db${suffix}`), "");
    }
    expect((await errand(site, ["run", "--store", "new.db", "hello"])).code).toBe(0);
  });

  test("by a second name of the user's store: a hard link does not run, a symbolic link leads to the store itself", async () => {
    const site = await hostileFolder();
    const own = await ownStore(site, "own.db");
    symlinkSync(own, join(site.folder, "link.db"));
    expect((await errand(site, ["run", "--store", "link.db", "hello"])).code).toBe(0);
    linkSync(own, join(site.folder, "hard.db"));
    await refused(site, "hard.db");
    expect(await refused(site, "own.db")).toContain("more than one name");
  });

  test("by links beside it: neither reading nor refusing it touches the files that they lead to", async () => {
    const site = await hostileFolder();
    const precious = join(site.home, "precious");
    writeFileSync(precious, "precious\n".repeat(10_000));
    for (const suffix of ["-wal", "-shm", "-journal", "-owner"]) {
      rmSync(join(site.folder, SHIPPED + suffix), { force: true });
      symlinkSync(precious, join(site.folder, SHIPPED + suffix));
    }
    for (const words of [["ps", "--all"], ["run", "x"], ["resume"], ["trust"], ["doctor"]])
      await errand(site, [...words, "--store", SHIPPED]);
    expect(readFileSync(precious, "utf8")).toBe("precious\n".repeat(10_000));
    expect(await harmComes(site)).toBe(false);
  });

  test("in a data folder that other users may write: the register there is not trusted", async () => {
    const site = await hostileFolder();
    await ownStore(site, "own.db");
    chmodSync(join(site.data, "errand", "register"), 0o777);
    const { err } = await errand(site, ["run", "--store", "own.db", "hello"]);
    expect(saidOf(err)).toMatchObject({ code: "data-folder-unusable", lines: 2 });
    expect(err).toContain("chmod 700");
  });
});

describe("a store whose contents are not what Errand writes", () => {
  const changed = async (sql: string): Promise<HostileFolder> => {
    const site = await hostileFolder();
    const db = new DatabaseSync(join(site.folder, SHIPPED));
    db.exec(sql);
    db.close();
    return site;
  };

  test.each([
    { what: "a trigger", sql: "create trigger t after update on meta begin select 1; end" },
    { what: "a view instead of a table", sql: "alter table anchor rename to a; create view anchor as select * from a" },
    { what: "another table", sql: "create table more (a)" },
  ])("$what: it is not even read", async ({ sql }) => {
    const site = await changed(sql);
    for (const words of [["ps", "--all"], ["trust"]]) {
      const { err, code } = await errand(site, [...words, "--store", SHIPPED]);
      expect(saidOf(err)).toMatchObject({ code: "store-unreadable", lines: 2 });
      expect(code).toBe(1);
    }
  });

  test.each([
    { what: "an id that is no UUID", sql: "update trees set id = '\u001b]0;title\u0007'" },
    { what: "a time that is none", sql: "update trees set created_at = 9e15" },
    { what: "a count below 0", sql: "update trees set questions = -1" },
  ])("$what: it is corrupt, and no escape sequence is printed", async ({ sql }) => {
    const site = await changed(sql);
    const { err, out, code } = await errand(site, ["ps", "--all", "--store", SHIPPED]);
    expect(saidOf(err)).toMatchObject({ code: "store-corrupt", lines: 2 });
    expect(code).toBe(1);
    expect(out + err).not.toContain("\u001b");
  });

  test("a journal that cannot be read is corrupt, not a bug of Errand", async () => {
    const site = await changed("update journal set head = '{\"rev\":7}' where seq = 2");
    for (const words of [["logs", site.tree], ["show", site.tree], ["answer"]]) {
      const { err } = await errand(site, [...words, "--store", SHIPPED]);
      expect(err).not.toContain("(internal)");
    }
  });
});
