/**
 * Where simulations keep their stores. A disk outlives the processes of its seed: each life opens it as its owner, people beside it as
 * readers. One is a SQLite file, in memory where the machine has a folder for that; the other is the store in memory.
 */

import { existsSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ErrandError, type Store } from "../../src/index.ts";
import { createMemoryStore } from "../../src/stores/memory/memory-store.ts";
import { openSqliteStore } from "../../src/stores/sqlite/sqlite-store.ts";
import { simulationFolder } from "./folder.ts";

export interface Disk {
  /** Opens the store for a new process, which owns it. */
  own(): Store;
  /** Opens the store for somebody who looks on and puts mail. */
  beside(): Store;
  /**
   * Somebody deletes the lock of the owner, so that another can come while it lives. False where nothing keeps two owners apart, and
   * nothing is to be proven.
   */
  unlock(): boolean;
}

export interface SimulationPlace {
  /** An empty disk in place of the one before. */
  sqlite(): Promise<Disk>;
  close(): void;
}

export async function openPlace(folder = simulationFolder()): Promise<SimulationPlace> {
  const path = join(folder, "store.db");
  await openSqliteStore({ path, access: "own", durability: "none" }).close();
  const template = readFileSync(path);
  let opened: Store[] = [];
  function open(access: "own" | "read"): Store {
    const store = openSqliteStore({ path, access, durability: "none" });
    opened.push(store);
    return store;
  }
  return {
    async sqlite() {
      // A seed that failed leaves stores open. SQLite would go on with what it knows of their file, which is another one from here on.
      await Promise.allSettled(opened.map((store) => store.close()));
      opened = [];
      for (const end of ["-wal", "-shm"]) if (existsSync(path + end)) rmSync(path + end);
      writeFileSync(path, template, { flag: "r+" });
      truncateSync(path, template.length);
      return {
        own: () => open("own"),
        beside: () => open("read"),
        unlock() {
          rmSync(`${path}-owner`);
          return true;
        },
      };
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}

export function memoryDisk(): Disk {
  const store = createMemoryStore();
  return { own: () => handleOf(store), beside: () => handleOf(store), unlock: () => false };
}

/** The store through a handle that can be closed by itself. */
function handleOf(store: Store): Store {
  let closed = false;
  const handle = Object.fromEntries(
    Object.entries(store).map(([name, member]: [string, unknown]) => [
      name,
      typeof member === "function"
        ? (...given: unknown[]): unknown =>
            closed
              ? Promise.reject(new ErrandError("store-closed", "This handle of the store in memory is closed."))
              : Reflect.apply(member, store, given)
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
