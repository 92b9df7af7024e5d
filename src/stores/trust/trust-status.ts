/**
 * Whether a store may run: this user's Errand made it, or the user trusted it, and nobody has put another in its place.
 *
 * Invariants:
 *  1. A store that is not in the register is not opened in place. Its files may be links to files of the user, which
 *     SQLite would write.
 *  2. A store outside the data folder that its owner left in order is as it was left: same size, same time of change,
 *     no log beside it that would be
 *     replayed. While it has an owner, and after a crash, its seal alone is compared.
 *  3. Every doubt is decided against running.
 */

import { hash } from "node:crypto";
import { join, sep } from "node:path";
import type { World } from "../../contracts/world.ts";
import { ErrandError } from "../../errors.ts";
import { logIsMissing } from "../sqlite/missing-log.ts";
import { canonicalPath, lookAtFile } from "../sqlite/open-database.ts";
import type { Identity } from "../sqlite/identity.ts";
import { openRegister, type Register, type RegisterEntry } from "./register.ts";
import { filesProblem, markEquals, markOf, replayedBeside } from "./store-files.ts";

/** What decides about trust, of the user and of the process. */
export interface TrustParts {
  /** The user's data folder. */
  readonly data: string;
  readonly world: Pick<World, "random" | "wall">;
  /** Ids of stores that the environment names as trusted. */
  readonly trustedIds: readonly string[];
  /** How long SQLite waits for a lock on a store that is looked at, during which nothing else of this process goes on. */
  readonly openingBusyTimeout?: number;
}

export type TrustStatus =
  /** No store was begun there. */
  | { readonly status: "new" }
  /** `entry` is null where the environment names it. */
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
    // An owner that comes or goes writes the entry before it writes the file: then the two are looked at again.
    if (trust.status !== "foreign" || JSON.stringify(now) === JSON.stringify(entry)) return trust;
    entry = now;
  }
}

function statusBy(entry: RegisterEntry | null, path: string, parts: TrustParts): TrustStatus {
  if (entry === null && parts.trustedIds.length === 0) return unregistered(path);
  const problem = filesProblem(path) ?? (entry === null ? null : leftProblem(path, entry));
  if (problem !== null) return { status: "foreign", why: problem };
  if (entry?.opened === true && logIsMissing(path)) throw logMissing(path);
  const look = lookAtFile(path, parts.openingBusyTimeout);
  try {
    if (look.version === null || look.version === 0) {
      // A process that died while it made the store has left a journal; without an entry nobody knows whose it is.
      return entry === null ? unregistered(path) : { status: "new" };
    }
    return identified(look.identity(), entry, parts);
  } finally {
    look.close();
  }
}

/** A young store has all of its commits in the log: without it, the database is as empty as a new one. */
function logMissing(path: string): ErrandError {
  return new ErrandError("store-corrupt", `The store ${path} is empty, and its log ${path}-wal is missing.`, {
    remedy:
      "The first commits of a store stand in that file: put it back, or restore both from a backup. If the store never held anything, delete its file.",
    details: { path },
  });
}

/** Nothing is opened: an empty file, or none, is where a store can be made. */
function unregistered(path: string): TrustStatus {
  const problem = filesProblem(path);
  const bytes = markOf(path)?.bytes ?? 0;
  if (problem === null && bytes === 0 && !replayedBeside(path)) return { status: "new" };
  return { status: "foreign", why: problem ?? "your Errand did not make it" };
}

function leftProblem(path: string, { left }: RegisterEntry): string | null {
  if (left === null || markOf(path) === null) return null;
  if (replayedBeside(path)) return "a log that your Errand did not write stands beside it";
  return markEquals(left, markOf(path)) ? null : "its file was changed or replaced since your Errand closed it";
}

function identified(identity: Identity | null, entry: RegisterEntry | null, { trustedIds }: TrustParts): TrustStatus {
  if (identity !== null && entry?.id === identity.id && entry.seal === sealHash(identity.seal)) {
    return { status: "trusted", id: identity.id, entry };
  }
  if (identity !== null && trustedIds.includes(identity.id)) return { status: "trusted", id: identity.id, entry: null };
  const why = entry === null ? "your Errand did not make it" : "another file stands where your Errand made a store";
  return { status: "foreign", why };
}
