/** The two ends of a move: the file that is owned for as long as it takes, and the database. */

import { statSync } from "node:fs";
import type { Store } from "../../contracts/store.ts";
import type { World } from "../../contracts/world.ts";
import { ErrandError } from "../../errors.ts";
import { openOwnFile, openStoreAt } from "../../runtime/create-runtime.ts";
import type { SqliteStore } from "../../stores/sqlite/sqlite-store.ts";
import { postgresUrlIs } from "../../stores/store-url.ts";

/** What was typed names a file and a database, or it is told what to type. */
export function requireEnds(from: string, to: string): void {
  const wrong = (message: string): ErrandError =>
    new ErrandError("usage", message, { remedy: "errand migrate --from FILE --to postgres://user@host/database" });
  if (from === to) throw wrong("--from and --to name the same store");
  if (postgresUrlIs(from)) throw wrong("A store moves from a file to a database, not out of one");
  if (from === "memory") throw wrong("A store in memory is gone with its process");
  if (!postgresUrlIs(to)) throw wrong("--to names no PostgreSQL database");
}

export async function withEnds<Result>(
  from: string,
  to: string,
  world: World,
  work: (source: SqliteStore, target: Store) => Promise<Result>,
): Promise<Result> {
  const source = openSource(from);
  try {
    const target = await openStoreAt(to, "own", { world });
    try {
      return await work(source, target);
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

function openSource(path: string): SqliteStore {
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0) {
    throw new ErrandError("store-unreadable", `There is no store ${path}`, { remedy: "Name the file with --from." });
  }
  try {
    return openOwnFile(path, { evenMoved: true });
  } catch (thrown) {
    if (!(thrown instanceof ErrandError) || thrown.code !== "store-owned") throw thrown;
    throw new ErrandError("store-owned", thrown.message, {
      remedy: "Stop that process first; what it has under way goes on in the database.",
      cause: thrown,
      details: thrown.details,
    });
  }
}
