/**
 * Where simulations keep their stores. A disk outlives the processes of its seed: each life opens it as its owner,
 * people beside it as readers. One is a SQLite file, in memory where the machine has a folder for that; the other is
 * the store in memory.
 */

import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { ErrandError, type Store } from "../../src/index.ts";
import { createMemoryStore } from "../../src/stores/memory/memory-store.ts";
import { createStore, openSqliteStore } from "../../src/stores/sqlite/sqlite-store.ts";
import { simulationFolder } from "./folder.ts";
import { keepConnections } from "./kept-connections.ts";
import { type Write, writeAgain } from "./power.ts";

export interface Disk {
  /** Opens the store for a new process, which owns it. */
  own(): Store;
  /** Opens the store for somebody who looks on and puts mail. */
  beside(): Store;
  /**
   * Somebody deletes the lock of the owner, so that another can come while it lives. False where nothing keeps two
   * owners apart, and nothing is to be proven.
   */
  unlock(): boolean;
  /** The power was cut: there is nothing but these writes. No process may have it open as its owner. */
  restore(writes: readonly Write[]): Promise<void>;
}

export interface SimulationPlace {
  /** An empty disk in place of the one before, on connections that are kept. */
  sqlite(): Promise<Disk>;
  /** The same, where each process and each reader opens the file anew. */
  sqliteAnew(): Promise<Disk>;
  close(): void;
}

export async function openPlace(folder = simulationFolder()): Promise<SimulationPlace> {
  const path = join(folder, "store.db");
  const anew = join(folder, "anew.db");
  await openSqliteStore({ path, durability: "none", access: "own" }).close();
  const template = readFileSync(path);
  const kept = keepConnections(path);
  const first = kept.take();
  const tables = first.prepare("select name from sqlite_schema where type = 'table'").all();
  const meta = first.prepare("select name, value from meta").all();
  first.close();
  let opened: Store[] = [];
  /**
   * Who owns the kept file. That the lock of a file keeps a second owner away is for the seeds that open theirs anew.
   */
  let owner: symbol | null = null;

  /** A seed that failed leaves stores open. SQLite would go on with what it knows of their file. */
  async function closeAll(): Promise<void> {
    await Promise.allSettled(opened.map((store) => store.close()));
    opened = [];
  }
  /** `between`: the two of them are one disk, on which each owner has written down that it came. */
  function empty(connection: Pick<DatabaseSync, "exec" | "prepare" | "close">, between: "seeds" | "owners"): void {
    connection.exec("begin");
    const epoch = connection.prepare("select value from meta where name = 'epoch'").get()?.["value"] ?? null;
    for (const { name } of tables) connection.prepare(`delete from ${String(name)}`).run();
    const put = connection.prepare("insert into meta values (?, ?)");
    for (const { name, value } of meta)
      put.run(name ?? null, name === "epoch" && between === "owners" ? epoch : (value ?? null));
    connection.exec("commit");
    connection.close();
  }
  function openKept(access: "own" | "read"): Store {
    const own = Symbol("owner");
    if (access === "own" && owner !== null) throw new ErrandError("store-owned", "The file has an owner.");
    if (access === "own") owner = own;
    return createStore(kept.take(), path, { path, durability: "none", access }, () => {
      if (owner === own) owner = null;
    });
  }
  function diskOf(open: (access: "own" | "read") => Store, unlock: () => void, clear: () => void): Disk {
    const noted = (access: "own" | "read"): Store => {
      const store = open(access);
      opened.push(store);
      return store;
    };
    return {
      own: () => noted("own"),
      beside: () => noted("read"),
      unlock() {
        unlock();
        return true;
      },
      async restore(writes) {
        clear();
        const store = noted("own");
        try {
          await writeAgain(store, writes);
        } finally {
          await store.close();
        }
      },
    };
  }

  return {
    async sqlite() {
      await closeAll();
      empty(kept.take(), "seeds");
      return diskOf(
        openKept,
        () => (owner = null),
        () => empty(kept.take(), "owners"),
      );
    },
    async sqliteAnew() {
      await closeAll();
      for (const end of ["-wal", "-shm"]) rmSync(anew + end, { force: true });
      writeFileSync(anew, template);
      return diskOf(
        (access) => openSqliteStore({ path: anew, durability: "none", access }),
        () => rmSync(`${anew}-owner`),
        () => empty(new DatabaseSync(anew), "owners"),
      );
    },
    close() {
      kept.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export function memoryDisk(): Disk {
  let store: Record<string, unknown> = { ...createMemoryStore() };
  const handle = (): Store => handleOf(() => store);
  return {
    own: handle,
    beside: handle,
    unlock: () => false,
    async restore(writes) {
      const fresh = createMemoryStore();
      await writeAgain(fresh, writes);
      store = { ...fresh };
    },
  };
}

/** The store through a handle that can be closed by itself. */
function handleOf(store: () => Record<string, unknown>): Store {
  let closed = false;
  const handle = Object.fromEntries(
    Object.entries(store()).map(([name, member]: [string, unknown]) => [
      name,
      typeof member === "function"
        ? (...given: unknown[]): unknown =>
            closed
              ? Promise.reject(new ErrandError("store-closed", "This handle of the store in memory is closed."))
              : Reflect.apply(store()[name] as () => unknown, store(), given)
        : member,
    ]),
  ) as unknown as Store;
  return {
    ...handle,
    async close() {
      closed = true;
    },
  };
}
