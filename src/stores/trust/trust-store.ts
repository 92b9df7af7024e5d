/** The user agrees to a store that came from elsewhere. From then on it may run, with a new id and seal. */

import { ErrandError } from "../../errors.ts";
import { openSqliteStore, type SqliteStoreOptions } from "../sqlite/sqlite-store.ts";
import { digestOf } from "./foreign-store.ts";
import { entryFor, recordClosed, newIdentity } from "./open-trusted.ts";
import { registerOf, type TrustParts } from "./trust-status.ts";
import { filesProblem, hasRollbackJournal } from "./store-files.ts";

/** `path` is canonical; `digest` is the hash of what the user was shown. Returns the new id. */
export async function trustStore(
  { path, digest, owner }: Pick<SqliteStoreOptions, "path" | "owner"> & { readonly digest: string },
  parts: TrustParts,
): Promise<string> {
  const problem = filesProblem(path);
  if (problem !== null) throw refused(path, problem);
  if (hasRollbackJournal(path)) throw refused(path, `beside it is a write that was never finished (${path}-journal)`);
  // Before SQLite opens the file: closing this descriptor later would drop SQLite's locks.
  if (digestOf(path) !== digest) throw refused(path, "it was changed while you looked at it");
  const identity = newIdentity(parts);
  const store = openSqliteStore({
    path,
    access: "own",
    ...(owner === undefined ? {} : { owner }),
    admit() {
      registerOf(parts).put(entryFor(path, "trusted", identity, parts));
      return identity;
    },
    onClosed: () => recordClosed(path, parts),
  });
  await store.close();
  return identity.id;
}

function refused(path: string, why: string): ErrandError {
  return new ErrandError("store-not-trusted", `The store ${path} cannot be trusted: ${why}.`, {
    remedy: "Copy the database alone to another place, and look at the copy.",
    details: { path },
  });
}
