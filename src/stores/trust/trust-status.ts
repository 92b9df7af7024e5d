/**
 * Whether a store may run: this user's Errand created it, or the user trusted it, and it was not replaced.
 *
 * Invariants:
 *  1. A store that is not in the register is not opened in place. Its files may be links to files of the user, which
 *     SQLite would write.
 *  2. A store outside the data folder that its owner closed must be unchanged: same size, same time of change, and no
 *     log beside it that SQLite would replay. While it has an owner, and after a crash, only its seal is compared.
 *  3. In doubt a store does not run.
 */

import { hash } from "node:crypto";
import { join, sep } from "node:path";
import type { World } from "../../contracts/world.ts";
import { ErrandError } from "../../errors.ts";
import { canonicalPath, inspectFile } from "../sqlite/open-database.ts";
import type { Identity } from "../sqlite/store-meta.ts";
import { openRegister, type Register, type RegisterEntry } from "./register.ts";
import { filesProblem, hasUnappliedWrites, logIsMissing, markEquals, markOf } from "./store-files.ts";

/** What trust depends on besides the store itself. */
export interface TrustParts {
  /** The user's data folder. */
  readonly data: string;
  readonly world: Pick<World, "random" | "wall">;
  /** Ids of stores that the environment trusts. */
  readonly trustedIds: readonly string[];
  /** How long SQLite waits for a lock on a store that is inspected. It blocks the event loop. */
  readonly openingBusyTimeout?: number;
}

export type TrustStatus =
  /** There is no store yet. */
  | { readonly status: "new" }
  /** `entry` is null if the environment trusts it. */
  | { readonly status: "trusted"; readonly id: string; readonly entry: RegisterEntry | null }
  /** `why` follows "it is not trusted: ". */
  | { readonly status: "foreign"; readonly why: string };

export function registerOf({ data, world }: TrustParts): Register {
  return openRegister(data, world);
}

export function sealHash(seal: string): string {
  return hash("sha256", seal);
}

/** True for a file among the command line's own stores, where only this user can put anything. */
export function insideData(path: string, { data }: TrustParts): boolean {
  return path.startsWith(join(canonicalPath(data), "stores") + sep);
}

/** `path` is canonical. */
export function trustStatusOf(path: string, parts: TrustParts): TrustStatus {
  const register = registerOf(parts);
  for (let entry = register.find(path); ;) {
    const trust = statusBy(entry, path, parts);
    const now = register.find(path);
    // An owner that opens or closes the store writes the entry before the file: then both are checked again.
    if (trust.status !== "foreign" || JSON.stringify(now) === JSON.stringify(entry)) return trust;
    entry = now;
  }
}

function statusBy(entry: RegisterEntry | null, path: string, parts: TrustParts): TrustStatus {
  if (entry === null && parts.trustedIds.length === 0) return unregistered(path);
  const problem = filesProblem(path) ?? (entry === null ? null : leftProblem(path, entry));
  if (problem !== null) return { status: "foreign", why: problem };
  if (entry?.opened === true && logIsMissing(path)) throw logMissing(path);
  const inspection = inspectFile(path, parts.openingBusyTimeout);
  try {
    if (inspection.version === null || inspection.version === 0) {
      // A process that died while it created the store has left a journal. Without an entry its origin is unknown.
      return entry === null ? unregistered(path) : { status: "new" };
    }
    return identified(inspection.identity(), entry, parts);
  } finally {
    inspection.close();
  }
}

/** A new store has all of its commits in the log. Without the log, the database is empty. */
function logMissing(path: string): ErrandError {
  return new ErrandError("store-corrupt", `The store ${path} is empty, and its log ${path}-wal is missing.`, {
    remedy:
      "The first commits of a store are in that file: put it back, or restore both from a backup. " +
      "If the store was never used, delete its file.",
    details: { path },
  });
}

/** Opens no file: a store can be created where there is no file, or an empty one. */
function unregistered(path: string): TrustStatus {
  const problem = filesProblem(path);
  const bytes = markOf(path)?.bytes ?? 0;
  if (problem === null && bytes === 0 && !hasUnappliedWrites(path)) return { status: "new" };
  return { status: "foreign", why: problem ?? "your Errand did not create it" };
}

function leftProblem(path: string, { left }: RegisterEntry): string | null {
  if (left === null || markOf(path) === null) return null;
  if (hasUnappliedWrites(path)) return "beside it is a log that your Errand did not write";
  return markEquals(left, markOf(path)) ? null : "its file was changed or replaced since your Errand closed it";
}

function identified(identity: Identity | null, entry: RegisterEntry | null, { trustedIds }: TrustParts): TrustStatus {
  if (identity !== null && entry?.id === identity.id && entry.seal === sealHash(identity.seal)) {
    return { status: "trusted", id: identity.id, entry };
  }
  if (identity !== null && trustedIds.includes(identity.id)) return { status: "trusted", id: identity.id, entry: null };
  const why = entry === null ? "your Errand did not create it" : "another file is where your Errand created a store";
  return { status: "foreign", why };
}
