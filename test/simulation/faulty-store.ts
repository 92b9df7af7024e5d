/**
 * The real store behind a thin wall: shows every commit to an onlooker, fails or dies where the plan says, and falls
 * silent with the life that uses it. A life that was stopped and wakes reaches the store again: what it writes is shown
 * to the onlooker as well.
 */

import { ErrandError, type Store } from "../../src/index.ts";
import type { Commit } from "../../src/contracts/store.ts";
import type { Write } from "./power.ts";
import type { Life } from "./simulated-world.ts";

/**
 * What goes wrong at a commit. `lost`: the process dies. `failed`: the disk does, which stops the process. `full`: it
 * may come again. `unknown`: nobody knows whether it was written.
 */
export type Fault =
  | "lost-before"
  | "lost-after"
  | "failed-before"
  | "failed-after"
  | "full-before"
  | "unknown-before"
  | "unknown-after";

interface Wall {
  /** Asked before every commit. */
  readonly fault: (commit: Commit) => Fault | null;
  readonly onCommitted: (commit: Commit) => void;
  /** Told of every write that was taken, the commits among them. */
  readonly onWritten: (write: Write, refused: boolean) => void;
  /** Begins to make durable all that was written; it is when the function that this gives is called. */
  readonly sync: () => () => void;
  /** Waits for the disk. False: it refuses. */
  readonly waitForDisk: () => Promise<boolean>;
  /** Asked before every call: why it is refused, or how long it has to wait. */
  readonly locked: (name: string, commit: Commit | null) => Error | Promise<void> | null;
  /** Told of every call that was let in. */
  readonly onCall: (name: string) => void;
  /** The process dies, now. */
  readonly die: () => void;
  /**
   * What came of a write by a process that was stopped, and replaced meanwhile: the error, or null where it was taken.
   */
  readonly onStrayWrite: (what: string, error: unknown) => void;
}

/** What only the owner of a store may do. */
const OWNER_WRITES = new Set([
  "commit",
  "markFailure",
  "markUnplaced",
  "release",
  "replaceProjections",
  "expire",
  "setAnchor",
  "raiseFormat",
]);

export function createFaultyStore(store: Store, life: Life, wall: Wall): Store {
  const silence = new Promise<never>(() => {});
  let refused = false;
  // Begun as a copy, so that it keeps the form of the store: an object that is built key by key is slow to read.
  const members: Record<string, unknown> = { ...store };
  for (const [name, member] of Object.entries(members)) {
    if (typeof member !== "function") continue;
    members[name] = (...given: unknown[]): unknown => {
      const { ended } = life;
      if (ended && !life.awake) return silence;
      const lock = ended || name === "close" || name === "commit" ? null : wall.locked(name, null);
      if (lock instanceof Error) return Promise.reject(lock);
      if (lock !== null)
        return lock.then(() => (life.ended ? silence : Reflect.apply(member, store, given)) as unknown);
      wall.onCall(name);
      const done: unknown = Reflect.apply(member, store, given);
      if (!OWNER_WRITES.has(name)) return done;
      return ended ? stray(name, done) : noted({ name, given }, done);
    };
  }
  const walled = members as unknown as Store;

  async function stray(what: string, done: unknown): Promise<unknown> {
    try {
      const result = await done;
      wall.onStrayWrite(what, null);
      return result;
    } catch (error) {
      wall.onStrayWrite(what, error);
      throw error;
    }
  }

  async function noted(write: Write, done: unknown): Promise<unknown> {
    const result = await done;
    wall.onWritten(write, false);
    return result;
  }

  return {
    ...walled,
    // The store itself is not asked to wait for a disk: what a loss of power takes is decided here.
    async flush() {
      if (life.ended && !life.awake) return silence;
      if (life.ended) return;
      const durable = wall.sync();
      if (!(await wall.waitForDisk())) refused = true;
      if (life.ended) return silence;
      if (refused) throw faultError("failed-after");
      durable();
    },
    async close() {
      await walled.close();
      if (!refused) wall.sync()();
    },
    async commit(commit) {
      if (life.ended) return walled.commit(commit);
      const lock = wall.locked("commit", commit);
      if (lock instanceof Error) throw lock;
      if (lock !== null) await lock;
      if (life.ended) return silence;
      const fault = refused ? "failed-before" : wall.fault(commit);
      if (fault === "lost-before") {
        wall.die();
        await life.goesOn();
        return walled.commit(commit);
      }
      if (fault?.endsWith("before") === true) throw faultError(fault);
      await store.commit(commit);
      wall.onWritten({ name: "commit", given: [commit] }, fault === "failed-after");
      wall.onCommitted(commit);
      if (fault === "lost-after") {
        wall.die();
        return silence;
      }
      if (fault !== null) throw faultError(fault);
    },
  };
}

function faultError(fault: Fault): ErrandError {
  if (fault.startsWith("unknown")) return new ErrandError("commit-unknown", "The store of the simulation fell silent.");
  return fault.startsWith("full")
    ? new ErrandError("store-full", "The disk of the simulation is full.")
    : new ErrandError("store-failed", "The disk of the simulation has failed.");
}
