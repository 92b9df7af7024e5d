import type { Store } from "../../src/contracts/store.ts";
import { createSystemWorld } from "../../src/runtime/world.ts";
import { openPostgresStore } from "../../src/stores/postgres/postgres-store.ts";
import { createDatabase } from "../support/postgres/databases.ts";
import { storeConformance } from "./store.ts";

storeConformance("the store in PostgreSQL", async () => {
  const database = await createDatabase();
  const handles: Store[] = [];
  const open = async (access: "own" | "read"): Promise<Store> => {
    const store = await openPostgresStore({ url: database.url, access, world: createSystemWorld() });
    handles.push(store);
    return store;
  };
  const store = await open("own");
  return {
    store,
    peer: () => open("read"),
    async successor() {
      await store.close();
      return open("own");
    },
    async dispose() {
      for (const handle of handles) await handle.close();
      await database.drop();
    },
  };
});
