/**
 * Lets one server of a project at a time start work under a key. A store keeps a key unique within itself, and each
 * server has a store of its own: without this, two servers that get the same key at the same time start the work twice.
 */

import { join } from "node:path";
import type { World } from "../../../contracts/world.ts";
import { ErrandError } from "../../../errors.ts";
import type { Alone } from "../../../host-tools/join-host-tools.ts";
import { type OwnerLock, takeOwnerLock } from "../../../stores/sqlite/ownership.ts";

const POLL_MS = 20;
const MOST_MS = 10_000;

/** The lock is on a file in this folder. The operating system releases it at any death of the process. */
export function createStartLock(folder: string, world: World): Alone {
  /** Calls of this process take turns, so that only those of other processes meet at the file. */
  let last: Promise<unknown> = Promise.resolve();

  async function take(): Promise<OwnerLock> {
    for (const began = world.monotonic(); ;) {
      try {
        return takeOwnerLock(join(folder, "starts"));
      } catch (error) {
        if (!(error instanceof ErrandError) || error.code !== "store-owned") throw error;
      }
      if (world.monotonic() - began > MOST_MS)
        throw new ErrandError("store-busy", "Another server of this folder has been starting work for 10 s.", {
          remedy: "Nothing was started. Call again with the same key.",
        });
      await new Promise<void>((resolve) => world.after(POLL_MS, resolve));
    }
  }

  return (work) => {
    const worked = last.then(async () => {
      const lock = await take();
      try {
        return await work();
      } finally {
        lock.release();
      }
    });
    last = worked.catch(() => undefined);
    return worked;
  };
}
