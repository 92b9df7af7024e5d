import { createMemoryStore } from "../../src/stores/memory/memory-store.ts";
import { storeConformance } from "./store.ts";

storeConformance("the store in memory", async () => {
  const store = createMemoryStore();
  return { store, peer: async () => store, successor: async () => store, dispose: async () => store.close() };
});
