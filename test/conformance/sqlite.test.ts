import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Store } from "../../src/contracts/store.ts";
import { openSqliteStore } from "../../src/stores/sqlite/sqlite-store.ts";
import { storeConformance } from "./store.ts";

storeConformance("the store in SQLite", async () => {
  const folder = mkdtempSync(join(tmpdir(), "errand-conformance-"));
  const handles: Store[] = [];
  const open = (access: "own" | "read"): Store => {
    // What a loss of power does is not asked here.
    const store = openSqliteStore({ path: join(folder, "store.db"), access, durability: "none" });
    handles.push(store);
    return store;
  };
  const store = open("own");
  return {
    store,
    peer: async () => open("read"),
    async successor() {
      await store.close();
      return open("own");
    },
    async dispose() {
      for (const handle of handles) await handle.close();
      rmSync(folder, { recursive: true });
    },
  };
});
