import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { configure, requireSqlite } from "./open-database.ts";

describe("SQLite's version", () => {
  test.each(["3.51.3", "3.51.4", "3.53.0", "4.0.0"])("%s is trusted", (version) => {
    expect(() => requireSqlite(version)).not.toThrow();
  });
  test.each(["3.51.2", "3.50.9", "3.51", "2.99.99"])("%s is too old", (version) => {
    expect(() => requireSqlite(version)).toThrow(
      expect.objectContaining({ code: "sqlite-too-old", remedy: expect.any(String) }),
    );
  });
});

describe("settings", () => {
  let folder: string;
  let db: DatabaseSync;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "errand-open-"));
    db = new DatabaseSync(join(folder, "file.db"));
  });
  afterEach(() => {
    db.close();
    rmSync(folder, { recursive: true });
  });
  const setting = (name: string): unknown => Object.values(db.prepare(`pragma ${name}`).get() ?? {})[0];

  test.each([
    ["full", 2],
    ["relaxed", 1],
    ["none", 0],
  ] as const)("%s durability is synchronous = %i, in WAL", (durability, level) => {
    configure(db, "file.db", "own", durability, 123);
    expect(setting("synchronous")).toBe(level);
    expect(setting("journal_mode")).toBe("wal");
    expect(setting("busy_timeout")).toBe(123);
  });

  test("a setting that SQLite does not take is an error", () => {
    expect(() => configure(db, "file.db", "read", "full", 1)).toThrow(/journal_mode at delete where wal/);
    const memory = new DatabaseSync(":memory:");
    expect(() => configure(memory, "file.db", "own", "full", 1)).toThrow(/journal_mode at memory where wal/);
    expect(() => configure(memory, "file.db", "own", "full", -5)).toThrow(/busy_timeout at 0 where -5/);
    memory.close();
  });
});
