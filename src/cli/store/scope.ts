/**
 * Which stores a command works with: the one that was typed, else that of a setting, else the database of
 * ERRAND_DATABASE_URL, else the files of the folder's project. DATABASE_URL often belongs to another program, so it
 * counts only where a setting says so.
 *
 * Invariants:
 *  1. A project is known by the real path of its folder. Its stores are files `store-N.db` in `stores/NAME-HASH` of the
 *     user's data folder.
 *  2. No file in the project's own folder is used as a store unless the user names it.
 */

import { hash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { type Json, jsonObjectIs } from "../../core/values/json.ts";
import { ErrandError } from "../../errors.ts";
import { postgresUrlIs, storeName } from "../../stores/store-url.ts";
import { dataFolder, type UserEnvironment } from "../../stores/user-data.ts";
import type { Host } from "../host.ts";
import type { Settings } from "../settings/settings.ts";
import { realFolder } from "../settings/trust-file.ts";

export type StoreScope =
  | { readonly kind: "named"; readonly store: string; readonly from: NamedBy }
  | { readonly kind: "project"; readonly project: string; readonly folder: string };

/** Where the name of a store came from. */
export type NamedBy = "--store" | "a setting" | "ERRAND_DATABASE_URL" | "DATABASE_URL";

const NAME_LENGTH = 40;
const HASH_LENGTH = 16;
const FILE = /^store-([1-9]\d{0,5})\.db$/;
const PROJECT_FILE = "project.json";

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
  // It may name a database of another kind.
  if (useDatabaseUrl && postgresUrlIs(shared)) return { kind: "named", store: shared, from: "DATABASE_URL" };
  return projectScope(host.folder, host);
}

function requirePostgres(url: string): string {
  if (postgresUrlIs(url)) return url;
  throw new ErrandError("config-invalid", "ERRAND_DATABASE_URL does not name a PostgreSQL database", {
    remedy: "ERRAND_DATABASE_URL=postgres://user@host/database; a file is named with --store PATH.",
  });
}

/** The scope of a folder for which no store is named. */
export function projectScope(folder: string, place: UserEnvironment): Extract<StoreScope, { kind: "project" }> {
  const project = realFolder(folder);
  const name = basename(project)
    .replaceAll(/[^A-Za-z0-9._-]+/g, "-")
    .slice(0, NAME_LENGTH);
  const own = `${name === "" ? "root" : name}-${hash("sha256", project).slice(0, HASH_LENGTH)}`;
  return { kind: "project", project, folder: join(storesFolder(place), own) };
}

/** The folder that holds a folder for each project. */
export function storesFolder(place: UserEnvironment): string {
  return join(dataFolder(place), "stores");
}

/** True for a database, which several processes share. */
export function databaseIs(scope: StoreScope): boolean {
  return scope.kind === "named" && postgresUrlIs(scope.store);
}

/** The scope as people read it. */
export function scopeName(scope: StoreScope): string {
  return scope.kind === "named" ? storeName(scope.store) : scope.folder;
}

export function projectFile(folder: string, number: number): string {
  return join(folder, `store-${number}.db`);
}

/** The files that exist, in order of their numbers. */
export function projectFiles(folder: string): readonly string[] {
  const numbers = namesIn(folder)
    .flatMap((name) => FILE.exec(name)?.[1] ?? [])
    .map(Number);
  return numbers.toSorted((one, other) => one - other).map((number) => projectFile(folder, number));
}

/** What the folder of a project's stores records about the project. */
export interface ProjectRecord {
  readonly version: 1;
  /** The real path of the project's folder. */
  readonly project: string;
  /** Stores in the project's folder that the user was told about. */
  readonly told: readonly string[];
}

export function projectRecordFile(folder: string): string {
  return join(folder, PROJECT_FILE);
}

/** Null if there is no record that can be read. */
export function readProjectRecord(folder: string): ProjectRecord | null {
  let value: Json;
  try {
    value = JSON.parse(readFileSync(projectRecordFile(folder), "utf8")) as Json;
  } catch {
    return null;
  }
  if (!jsonObjectIs(value) || typeof value["project"] !== "string") return null;
  const told = Array.isArray(value["told"]) ? (value["told"] as readonly Json[]) : [];
  return { version: 1, project: value["project"], told: told.filter((path) => typeof path === "string") };
}

/** The folders of all projects. */
export function projectFolders(place: UserEnvironment): readonly string[] {
  const folder = storesFolder(place);
  return namesIn(folder)
    .toSorted()
    .map((name) => join(folder, name));
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/**
 * A store in the folder of a project: where the command line kept it before, and where a folder of another person may
 * ship one.
 */
export const FORMER_STORE = ".errand/errand.db";

/** The store in the folder of a project, or null. It is not opened. */
export function formerStore(project: string): string | null {
  const path = join(project, FORMER_STORE);
  return lstatSync(path, { throwIfNoEntry: false }) === undefined ? null : path;
}

export function formerText(): string {
  return (
    `this folder holds the store ${FORMER_STORE}, which is not used: stores are in your data folder now. ` +
    `Look into it with errand ps --all --store ${FORMER_STORE}; if it is yours, errand trust --store ${FORMER_STORE}`
  );
}
