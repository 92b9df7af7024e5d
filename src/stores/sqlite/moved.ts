/**
 * A store that was moved to another one. Its file is kept as it was, and nobody works with it any more: what happened there since is
 * not in it, and going on here would give its trees a second history.
 */

import { ErrandError } from "../../errors.ts";
import { textOf } from "./cells.ts";
import type { Connection } from "./connection.ts";

/** The name of the store that this one was moved to, or null. */
export function movedTo(db: Connection): string | null {
  const row = db.prepare("select value from meta where name = 'moved'").get();
  return row === undefined ? null : textOf(row, "value");
}

export function requireNotMoved(db: Connection, path: string): void {
  const to = movedTo(db);
  if (to === null) return;
  throw new ErrandError("store-moved", `The store ${path} was moved to ${to}.`, {
    remedy: "Work with it there: name it with --store URL or ERRAND_DATABASE_URL.",
    details: { path, to },
  });
}
