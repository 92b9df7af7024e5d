/**
 * The stores of simulations. A disk survives the processes of its seed: each life opens it as its owner, people open it
 * as readers. One kind is a SQLite file, in a memory file system if the machine has one; the other is the store in
 * memory.
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
  /** Opens the store to read and to put mail. */
  beside(): Store;
  /**
   * Deletes the owner's lock, so that another owner can come while it lives. Returns false for a store without such a
   * lock.
   */
  unlock(): boolean;
  /** After a loss of power: only these writes are left. No process may own the store. */
  restore(writes: readonly Write[]): Promise<void>;
}

export interface SimulationPlace {
  /** A new empty disk on reused connections. */
  sqlite(): Promise<Disk>;
  /** The same, but each process and each reader opens the file again. */
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
   * The owner of the reused file. Only seeds that open their own file test that the lock refuses a second owner.
   */
  let owner: symbol | null = null;

  /** Stores that a failed seed left open. SQLite would use their cached pages. */
  async function closeAll(): Promise<void> {
    await Promise.allSettled(opened.map((store) => store.close()));
    opened = [];
  }
  /** `between` joins both ways to open the disk: each owner records its start there. */
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
