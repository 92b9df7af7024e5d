/** A move that is interrupted at any write and started again has the same result as an uninterrupted one. */

import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { moveStore } from "../../src/runtime/moving/move-store.ts";
import type { Store } from "../../src/contracts/store.ts";
import { createMemoryStore } from "../../src/stores/memory/memory-store.ts";
import { openSqliteStore, type SqliteStore } from "../../src/stores/sqlite/sqlite-store.ts";
import { sampleMail, treeNumber } from "../conformance/store-samples.ts";
import { contentsOf, contentsOfFile, makeFullStore, treesOf, unchanged } from "./support/full-store.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

const WRITES = new Set<string>(["commit", "putMail", "markFailure", "release", "leave"]);
class Interrupted extends Error {}

/** Counts the writes of both stores together; the process dies after one of them. */
function interrupting(after: number) {
  let writes = 0;
  const wall = <Subject extends object>(store: Subject): Subject =>
    new Proxy(store, {
      get(target, name, receiver) {
        const member: unknown = Reflect.get(target, name, receiver);
        if (typeof member !== "function" || !WRITES.has(String(name))) return member;
        return async (...given: unknown[]): Promise<unknown> => {
          const done: unknown = await Reflect.apply(member, target, given);
          writes += 1;
          if (writes === after) throw new Interrupted();
          return done;
        };
      },
    });
  return { wall, writes: () => writes };
}

const full = { folder: "", path: "", contents: {} };
let copies = 0;
beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), "errand-move-"));
  const path = join(folder, "full.db");
  await makeFullStore(path, { posts: 300 });
  Object.assign(full, { folder, path, contents: await contentsOfFile(path) });
});
afterAll(() => rmSync(full.folder, { recursive: true, force: true }));

function copied(): string {
  copies += 1;
  const path = join(full.folder, `copy-${copies}.db`);
  copyFileSync(full.path, path);
  return path;
}

async function attempt(path: string, target: Store, wall = <Subject extends object>(store: Subject) => store) {
  const source = openSqliteStore({ path, access: "own", evenMoved: true, durability: "none" });
  try {
    return await moveStore({ source: wall(source), target: wall(target), to: "there", onProgress: () => undefined });
  } finally {
    await source.close();
  }
}

test("the store has every kind of record", async () => {
  const store = openSqliteStore({ path: full.path, access: "read" });
  const trees = await treesOf(store);
  const has = (fits: (tree: (typeof trees)[number]) => boolean): boolean => trees.some(fits);
  expect(has(({ nextSeq }) => nextSeq > 500)).toBe(true);
  for (const status of ["open", "quarantined", "expired"]) expect(has((tree) => tree.status === status)).toBe(true);
  expect(has(({ questions, busy, wakeAt }) => questions > 0 && busy && wakeAt !== null)).toBe(true);
  expect(has(({ kind }) => kind === "background")).toBe(true);
  await store.close();
});

test("after an interruption at any write, a second attempt has the same result as one attempt", async () => {
  const whole = createMemoryStore();
  const counter = interrupting(0);
  expect(await attempt(copied(), whole, counter.wall)).toMatchObject({ already: false, mail: 4 });
  expect(await contentsOf(whole)).toEqual(full.contents);
  expect(counter.writes()).toBeGreaterThan(20);
  for (let after = 1; after <= counter.writes(); after += 1) {
    const path = copied();
    const target = createMemoryStore();
    await expect(attempt(path, target, interrupting(after).wall)).rejects.toBeInstanceOf(Interrupted);
    expect(await bothRun(path, target)).toBe(false);
    await attempt(path, target);
    expect(await contentsOf(target)).toEqual(full.contents);
    expect(await contentsOfFile(path)).toEqual(full.contents);
    expect(await attempt(path, target)).toMatchObject({ already: true });
  }
});

/** True if processes could run the trees in both stores. */
async function bothRun(path: string, target: Store): Promise<boolean> {
  const released = (await target.trees({ limit: 9_999 })).some(({ status }) => status !== "arriving");
  return released && !isMoved(path);
}

function isMoved(path: string): boolean {
  try {
    void openSqliteStore({ path, access: "read" }).close();
    return false;
  } catch {
    return true;
  }
}

describe("between two attempts", () => {
  test("the work of the source since then is moved too", async () => {
    const path = copied();
    const target = createMemoryStore();
    await expect(attempt(path, target, leaving())).rejects.toBeInstanceOf(Interrupted);
    const source = openSqliteStore({ path, access: "own" });
    const trees = await treesOf(source);
    const told = trees.find(({ questions }) => questions > 0);
    const failed = trees.find(({ failures, status }) => failures === 1 && status === "open");
    if (told === undefined || failed === undefined) throw new Error("no such tree");
    const [first] = await source.pendingOutbox(told.id);
    if (first === undefined) throw new Error("nothing was told");
    const { id, hash } = sampleMail(told.id, "b");
    await source.commit({
      acknowledged: [{ tree: told.id, key: first.key }],
      trees: [
        unchanged(told, {
          epoch: told.epoch + 7,
          questions: 0,
          posts: [{ id, hash, seq: 1, endedSeq: null }],
        }),
      ],
    });
    await source.release(failed.id);
    await source.putMail(sampleMail(treeNumber(98), "late"));
    await source.close();
    const now = await contentsOfFile(path);
    expect(now).not.toEqual(full.contents);
    await attempt(path, target);
    expect(await contentsOf(target)).toEqual(now);
  });

  test("texts that were erased since then are erased in the target too", async () => {
    const { path, tree, target } = await halfMoved();
    const erased = [{ seq: 1, body: "what was erased since" }];
    await target.commit({ acknowledged: [], trees: [unchanged(tree, { erased })] });
    await attempt(path, target);
    expect(await contentsOf(target)).toEqual(full.contents);
  });

  test("a message that arrives while the move ends is not lost", async () => {
    const path = copied();
    const target = createMemoryStore();
    const late = sampleMail(treeNumber(97), "in the last moment");
    let left = 0;
    await attempt(path, target, <Subject extends object>(store: Subject): Subject => {
      if (!("leave" in store)) return store;
      const leave: SqliteStore["leave"] = async (to, mail) => {
        left += 1;
        const sender = left === 1 ? openSqliteStore({ path, access: "read" }) : null;
        await sender?.putMail(late);
        await sender?.close();
        return (store as unknown as SqliteStore).leave(to, mail);
      };
      return { ...store, leave };
    });
    expect(left).toBe(2);
    expect(await target.pendingMail(99)).toContainEqual(late);
  });
});

/** Interrupts a move just before the source records that it was moved. */
function leaving() {
  return <Subject extends object>(store: Subject): Subject => {
    if (!("leave" in store)) return store;
    const leave: SqliteStore["leave"] = () => Promise.reject(new Interrupted());
    return { ...store, leave };
  };
}

async function halfMoved() {
  const path = copied();
  const target = createMemoryStore();
  await expect(attempt(path, target, leaving())).rejects.toBeInstanceOf(Interrupted);
  const [tree] = (await target.trees({ status: "arriving", limit: 1 })).slice(-1);
  if (tree === undefined) throw new Error("nothing arrived");
  return { path, tree, target };
}

describe("refused", () => {
  test("another tree's row in the place of a copied one", async () => {
    const { path, tree, target } = await halfMoved();
    const rows: Store["rows"] = async (id, from, limit) => {
      const found = await target.rows(id, from, limit);
      return id === tree.id ? found.map((row) => ({ ...row, head: `${row.head} ` })) : found;
    };
    await expect(attempt(path, { ...target, rows })).rejects.toMatchObject({ code: "store-differs" });
  });

  test.each(["rows", "blobs", "posts", "runs", "pendingOutbox", "snapshot"] as const)(
    "%s that are read back with other content than was written",
    async (name) => {
      const target = createMemoryStore();
      const read = target[name] as (...given: unknown[]) => Promise<unknown>;
      const wrong = async (...given: unknown[]): Promise<unknown> => {
        const found = await read(...given);
        if (Array.isArray(found)) return found.slice(1);
        return null;
      };
      const path = copied();
      const altered = { ...target, [name]: wrong };
      await expect(attempt(path, altered)).rejects.toMatchObject({ code: "store-differs" });
      expect(isMoved(path)).toBe(false);
    },
  );
});
