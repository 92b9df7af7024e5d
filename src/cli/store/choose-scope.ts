/**
 * Which stores a command works with: the one that was typed, else that of a setting, else the database of
 * ERRAND_DATABASE_URL, else the files of the
 * folder's project. DATABASE_URL often belongs to another program, so that it counts only where a setting says so.
 */

import { ErrandError } from "../../errors.ts";
import { postgresUrlIs } from "../../stores/store-url.ts";
import type { Host } from "../host.ts";
import type { Settings } from "../settings/settings.ts";
import { projectScope, type StoreScope } from "./scope.ts";

export function chooseScope(
  typed: string | undefined,
  { store, useDatabaseUrl }: Pick<Settings, "store" | "useDatabaseUrl">,
  host: Pick<Host, "env" | "home" | "folder">,
): StoreScope {
  if (typed !== undefined) return { kind: "named", store: typed, from: "--store" };
  if (store !== null) return { kind: "named", store, from: "a setting" };
  const own = host.env["ERRAND_DATABASE_URL"] ?? "";
  if (own !== "") return { kind: "named", store: requirePostgres(own), from: "ERRAND_DATABASE_URL" };
  const shared = host.env["DATABASE_URL"] ?? "";
  // It may be that of another kind of database.
  if (useDatabaseUrl && postgresUrlIs(shared)) return { kind: "named", store: shared, from: "DATABASE_URL" };
  return projectScope(host.folder, host);
}

function requirePostgres(url: string): string {
  if (postgresUrlIs(url)) return url;
  throw new ErrandError("config-invalid", "ERRAND_DATABASE_URL does not name a PostgreSQL database", {
    remedy: "ERRAND_DATABASE_URL=postgres://user@host/database; a file is named with --store PATH.",
  });
}
