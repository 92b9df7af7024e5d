/**
 * SQLite stores in a folder of their own for each test; closed and removed after it.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach } from "vitest";
import type { Store } from "../../src/contracts/store.ts";
import { openSqliteStore, type SqliteStoreOptions } from "../../src/stores/sqlite/sqlite-store.ts";

export interface TemporaryStores {
  folder(): string;
  /** Where `open` opens a store unless told otherwise. */
  path(): string;
  open(over?: Partial<SqliteStoreOptions>): Store;
}

export function temporaryStores(): TemporaryStores {
  let folder = "";
  const stores: Store[] = [];
  const path = (): string => join(folder, "store.db");
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "errand-sqlite-"));
  });
  afterEach(async () => {
    for (const store of stores.splice(0)) await store.close();
    rmSync(folder, { recursive: true });
  });
  return {
    folder: () => folder,
    path,
    open(over = {}) {
      const store = openSqliteStore({ path: path(), access: "own", ...over });
      stores.push(store);
      return store;
    },
  };
}
