/**
 * A store's own entries in its table `meta`: its identity, and where it was moved.
 *
 * The id may be shown. The seal is known to the store and, as a hash, to the register of the user whose Errand made it
 * (`../trust/register.ts`). The file of a moved store is kept, but no process may use it any more, because
 * that would give its trees a second history.
 *
 * Invariant: of a file from an unknown source only tables are read, because a view or a trigger could do any amount of
 * work.
 */

import { uuidIs } from "../../core/values/ids.ts";
import { ErrandError } from "../../errors.ts";
import { textOf } from "./cells.ts";
import type { Connection } from "./connection.ts";

export interface Identity {
  readonly id: string;
  /** 64 random hexadecimal digits. */
  readonly seal: string;
}

const SEAL = /^[0-9a-f]{64}$/;

/** Null if there is none, or if the file has tables, views or triggers that no store of Errand has. */
export function identityOf(db: Connection): Identity | null {
  const schema = db.prepare("select type, name from sqlite_schema where type in ('view', 'trigger') or name = 'meta'");
  const [meta, ...others] = schema.all();
  if (meta?.["type"] !== "table" || others.length > 0) return null;
  const value = (name: string): unknown => db.prepare("select value from meta where name = ?").get(name)?.["value"];
  const [id, seal] = [value("id"), value("seal")];
  if (typeof id !== "string" || !uuidIs(id) || typeof seal !== "string" || !SEAL.test(seal)) return null;
  return { id, seal };
}

/** Runs in a transaction of the owner. */
export function writeIdentity(db: Connection, { id, seal }: Identity): void {
  const put = db.prepare("insert or replace into meta values (?, ?)");
  put.run("id", id);
  put.run("seal", seal);
}

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
