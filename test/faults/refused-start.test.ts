/**
 * A process that cannot start because its store is locked leaves nothing behind: the same store can be opened again.
 */

import { join } from "node:path";
import { expect, test } from "vitest";
import { createErrand, ErrandError, type Store } from "../../src/index.ts";
import { openStoreAt } from "../../src/runtime/create-runtime.ts";
import { temporaryFolder } from "../support/test-errand.ts";

const busy = (): Promise<never> => Promise.reject(new ErrandError("store-busy", "Another program holds the lock."));

const CALLS = ["anchor", "setAnchor", "unfinished", "pendingMail"] as const satisfies readonly (keyof Store)[];

test.each(CALLS)("a start that is refused at %s closes the store", async (call) => {
  const path = join(temporaryFolder(), "errand.db");
  const store: Store = { ...(await openStoreAt(path, "own")), [call]: busy };
  await expect(createErrand({ store })).rejects.toMatchObject({ code: "store-busy" });
  const errand = await createErrand({ store: path });
  await errand.close();
});
