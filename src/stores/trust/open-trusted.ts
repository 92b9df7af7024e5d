/**
 * Opening a SQLite store that may run: as its owner, or to read and put mail.
 *
 * Invariants:
 *  1. Whether it may run is checked before any file is opened, and again under the owner's lock.
 *  2. A new store is in the register before it is created.
 *  3. For a store outside the data folder, the register records the size and time of the file that the last owner
 *     closed. That record is deleted before anything is written again.
 */

import type { World } from "../../contracts/world.ts";
import { uuidOf } from "../../core/values/ids.ts";
import { ErrandError } from "../../errors.ts";
import type { Identity } from "../sqlite/store-meta.ts";
import { canonicalPath } from "../sqlite/open-database.ts";
import { openSqliteStore, type SqliteStore, type SqliteStoreOptions } from "../sqlite/sqlite-store.ts";
import type { RegisterEntry } from "./register.ts";
import { insideData, registerOf, sealHash, type TrustStatus, trustStatusOf, type TrustParts } from "./trust-status.ts";
import { hasUnappliedWrites, markOf, requireStoreFile } from "./store-files.ts";

/** Throws `store-not-trusted` for a store that may not run. */
export function openOwnStore(options: Omit<SqliteStoreOptions, "access" | "admit">, parts: TrustParts): SqliteStore {
  const path = canonicalPath(options.path);
  requireRunnable(path, trustStatusOf(path, parts));
  const store = openSqliteStore({
    ...options,
    path,
    access: "own",
    admit: () => admit(path, parts),
    onClosed: () => recordClosed(path, parts),
  });
  try {
    recordOpened(path, parts);
  } catch (error) {
    // The first error is the one to report.
    store.close().catch(() => {});
    throw error;
  }
  return store;
}

/** From now on the store has commits, so that a missing log means damage. */
function recordOpened(path: string, parts: TrustParts): void {
  const register = registerOf(parts);
  const entry = register.find(path);
  if (entry !== null && !entry.opened) register.put({ ...entry, opened: true });
}

/** Opens a trusted store, by its canonical path, to read and to put mail. */
export function openTrustedReader(path: string, parts: TrustParts, world: World): SqliteStore {
  const store = openSqliteStore({ path, access: "read", world });
  return {
    ...store,
    async putMail(mail) {
      deleteCloseRecord(path, parts);
      const put = await store.putMail(mail);
      // An owner may have closed the store just before.
      deleteCloseRecord(path, parts);
      return put;
    },
  };
}

export function requireRunnable(path: string, trust: TrustStatus): void {
  if (trust.status !== "foreign") return;
  if (markOf(path) !== null) requireStoreFile(path);
  throw new ErrandError("store-not-trusted", `The store ${path} is not trusted: ${trust.why}.`, {
    remedy:
      `Nothing in it was run. If it is yours, look at it and agree: errand trust --store ${path}. ` +
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
    deleteCloseRecord(path, parts);
    return null;
  }
  const identity = newIdentity(parts);
  registerOf(parts).put(entryFor(path, "made", identity, parts));
  return identity;
}

function deleteCloseRecord(path: string, parts: TrustParts): void {
  const register = registerOf(parts);
  const entry = register.find(path);
  if (entry !== null && entry.left !== null) register.put({ ...entry, left: null });
}

/** Called when the owner has closed the file and still holds the lock. */
export function recordClosed(path: string, parts: TrustParts): void {
  if (insideData(path, parts)) return;
  const register = registerOf(parts);
  const entry = register.find(path);
  const left = markOf(path);
  // If a reader prevented the checkpoint, the next owner changes the file again.
  if (entry === null || left === null || hasUnappliedWrites(path)) return;
  register.put({ ...entry, left });
}
