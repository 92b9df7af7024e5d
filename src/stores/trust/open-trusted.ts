/**
 * Opening a SQLite store that may run, and only such a one: as its owner, or to read and put mail.
 *
 * Invariants:
 *  1. Whether it may run is asked before anything is touched, and again under the owner's lock.
 *  2. A new store is in the register before it is made.
 *  3. Outside the data folder the register knows how an owner left the file; it forgets that before anything is
 *     written again.
 */

import type { World } from "../../contracts/world.ts";
import { uuidOf } from "../../core/values/ids.ts";
import { ErrandError } from "../../errors.ts";
import type { Identity } from "../sqlite/identity.ts";
import { canonicalPath } from "../sqlite/open-database.ts";
import { openSqliteStore, type SqliteStore, type SqliteStoreOptions } from "../sqlite/sqlite-store.ts";
import type { RegisterEntry } from "./register.ts";
import { insideData, registerOf, sealHash, type TrustStatus, trustStatusOf, type TrustParts } from "./trust-status.ts";
import { markOf, replayedBeside, requireStoreFile } from "./store-files.ts";

/** Throws `store-not-trusted` for a store that may not run. */
export function openOwnStore(options: Omit<SqliteStoreOptions, "access" | "admit">, parts: TrustParts): SqliteStore {
  const path = canonicalPath(options.path);
  requireRunnable(path, trustStatusOf(path, parts));
  const store = openSqliteStore({
    ...options,
    path,
    access: "own",
    admit: () => admit(path, parts),
    onClosed: () => leave(path, parts),
  });
  try {
    recordOpened(path, parts);
  } catch (error) {
    // The caller is told why; a close that fails as well has nothing to add.
    store.close().catch(() => {});
    throw error;
  }
  return store;
}

/** From here on the store holds commits, so that a missing log is damage. */
function recordOpened(path: string, parts: TrustParts): void {
  const register = registerOf(parts);
  const entry = register.find(path);
  if (entry !== null && !entry.opened) register.put({ ...entry, opened: true });
}

/** A store that is trusted, by its canonical path, to read and to put mail. */
export function openTrustedReader(path: string, parts: TrustParts, world: World): SqliteStore {
  const store = openSqliteStore({ path, access: "read", world });
  return {
    ...store,
    async putMail(mail) {
      forgetLeft(path, parts);
      const put = await store.putMail(mail);
      // An owner may have left just before the mail came.
      forgetLeft(path, parts);
      return put;
    },
  };
}

export function requireRunnable(path: string, trust: TrustStatus): void {
  if (trust.status !== "foreign") return;
  if (markOf(path) !== null) requireStoreFile(path);
  throw new ErrandError("store-not-trusted", `The store ${path} is not trusted: ${trust.why}.`, {
    remedy:
      `Nothing of it was run. If it is yours, look at it and agree: errand trust --store ${path}. ` +
      "In CI: ERRAND_TRUST_STORE=ID.",
    details: { path },
  });
}

export function newIdentity({ world }: TrustParts): Identity {
  return { id: uuidOf(world.wall(), world.random(16), 0), seal: world.random(64) };
}

export function entryFor(
  path: string,
  from: RegisterEntry["from"],
  identity: Identity,
  parts: TrustParts,
): RegisterEntry {
  const { id, seal } = identity;
  return { path, id, seal: sealHash(seal), from, at: parts.world.wall(), opened: false, left: null };
}

/** Under the owner's lock. */
function admit(path: string, parts: TrustParts): Identity | null {
  const trust = trustStatusOf(path, parts);
  requireRunnable(path, trust);
  if (trust.status === "trusted") {
    forgetLeft(path, parts);
    return null;
  }
  const identity = newIdentity(parts);
  registerOf(parts).put(entryFor(path, "made", identity, parts));
  return identity;
}

function forgetLeft(path: string, parts: TrustParts): void {
  const register = registerOf(parts);
  const entry = register.find(path);
  if (entry !== null && entry.left !== null) register.put({ ...entry, left: null });
}

/** The owner has closed the file and still holds the lock. */
export function leave(path: string, parts: TrustParts): void {
  if (insideData(path, parts)) return;
  const register = registerOf(parts);
  const entry = register.find(path);
  const left = markOf(path);
  // A reader may have kept the log from being moved into the database: then the next owner does that.
  if (entry === null || left === null || replayedBeside(path)) return;
  register.put({ ...entry, left });
}
