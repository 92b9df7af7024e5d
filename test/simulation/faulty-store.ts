/**
 * The real store behind a wrapper that reports every commit, injects the plan's faults, and never answers after its
 * life has ended. A paused life that continues reaches the store again; its writes are reported too.
 */

import { ErrandError, type Store } from "../../src/index.ts";
import type { Commit } from "../../src/contracts/store.ts";
import type { Write } from "./power.ts";
import type { Life } from "./simulated-world.ts";

/**
 * A fault at a commit. `lost`: the process dies. `failed`: the disk fails, which stops the process. `full`: the commit
 * can be tried again. `unknown`: the caller cannot know whether it was written. `lost-after` has twice the weight.
 */
export const FAULTS = [
  "lost-before",
  "lost-after",
  "lost-after",
  "failed-before",
  "failed-after",
  "full-before",
  "unknown-before",
  "unknown-after",
] as const;

export type Fault = (typeof FAULTS)[number];

interface Wall {
  /** Asked before every commit. */
  readonly fault: (commit: Commit) => Fault | null;
  readonly onCommitted: (commit: Commit) => void;
  /** Called for every accepted write, commits included. */
  readonly onWritten: (write: Write, refused: boolean) => void;
  /** Starts an fsync of all writes. They are durable once the returned function is called. */
  readonly sync: () => () => void;
  /** Waits for the disk. Resolves with false if it refuses. */
  readonly waitForDisk: () => Promise<boolean>;
  /** Asked before every call: the error if it is refused, or a promise if it has to wait. */
  readonly locked: (name: string, commit: Commit | null) => Error | Promise<void> | null;
  /** Called for every call that is not refused. */
  readonly onCall: (name: string) => void;
  /** Kills the process now. */
  readonly die: () => void;
  /**
   * Called with the result of a write by a replaced process: the error, or null if the write was accepted.
   */
  readonly onStrayWrite: (what: string, error: unknown) => void;
}

/** Methods that only the owner of a store may call. */
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
  // A copy keeps the store's hidden class in V8; an object that is built key by key is slower to read.
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
    // The real store never waits for a disk: the simulation decides what a loss of power takes.
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
