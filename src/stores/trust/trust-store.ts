/**
 * The user agrees to a store that came from elsewhere, as it was looked at: from then on it may run. It gets an id
 * and a seal of its own.
 */

import { ErrandError } from "../../errors.ts";
import { openSqliteStore, type SqliteStoreOptions } from "../sqlite/sqlite-store.ts";
import { digestOf } from "./foreign-store.ts";
import { entryFor, leave, newIdentity } from "./open-trusted.ts";
import { registerOf, type TrustParts } from "./trust-status.ts";
import { filesProblem, journalBeside } from "./store-files.ts";

/** `path` is canonical; `digest` is that of the bytes that were looked at. Returns its new id. */
export async function trustStore(
  { path, digest, owner }: Pick<SqliteStoreOptions, "path" | "owner"> & { readonly digest: string },
  parts: TrustParts,
): Promise<string> {
  const problem = filesProblem(path);
  if (problem !== null) throw refused(path, problem);
  if (journalBeside(path)) throw refused(path, `a write that was never finished stands beside it (${path}-journal)`);
  // Before SQLite opens it: a descriptor that is closed later would take SQLite's locks with it.
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
    onClosed: () => leave(path, parts),
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
