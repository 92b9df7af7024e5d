/**
 * Which stores a command is about: one that was named, or the files of the current folder's project, which stand in
 * the user's data folder.
 *
 * Invariants:
 *  1. A project is known by the real path of its folder. Its stores are in `stores/NAME-HASH` of the data folder,
 *     each a file `store-N.db`.
 *  2. Nothing of the project's own folder is used as a store unless the user names it.
 */

import { hash } from "node:crypto";
import { readdirSync, readFileSync, realpathSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { type Json, jsonObjectIs } from "../../core/values/json.ts";
import { postgresUrlIs, storeName } from "../../stores/store-url.ts";
import { dataFolder, type UserEnvironment } from "../../stores/user-data.ts";

export type StoreScope =
  | { readonly kind: "named"; readonly store: string; readonly from: NamedBy }
  | { readonly kind: "project"; readonly project: string; readonly folder: string };

/** What named a store. */
export type NamedBy = "--store" | "a setting" | "ERRAND_DATABASE_URL" | "DATABASE_URL";

const NAME_LENGTH = 40;
const HASH_LENGTH = 16;
const FILE = /^store-([1-9]\d{0,5})\.db$/;
const PROJECT_FILE = "project.json";

/** The scope of a folder when nobody names a store. */
export function projectScope(folder: string, place: UserEnvironment): Extract<StoreScope, { kind: "project" }> {
  const project = realFolder(folder);
  const name = basename(project)
    .replaceAll(/[^A-Za-z0-9._-]+/g, "-")
    .slice(0, NAME_LENGTH);
  const own = `${name === "" ? "root" : name}-${hash("sha256", project).slice(0, HASH_LENGTH)}`;
  return { kind: "project", project, folder: join(storesFolder(place), own) };
}

/** Where the folders of all projects are. */
export function storesFolder(place: UserEnvironment): string {
  return join(dataFolder(place), "stores");
}

/** True for a database, which several processes share. */
export function databaseIs(scope: StoreScope): boolean {
  return scope.kind === "named" && postgresUrlIs(scope.store);
}

/** The scope as it is named to people. */
export function scopeName(scope: StoreScope): string {
  return scope.kind === "named" ? storeName(scope.store) : scope.folder;
}

export function projectFile(folder: string, number: number): string {
  return join(folder, `store-${number}.db`);
}

/** The files that are there, in order. */
export function projectFiles(folder: string): readonly string[] {
  const numbers = namesIn(folder)
    .flatMap((name) => FILE.exec(name)?.[1] ?? [])
    .map(Number);
  return numbers.toSorted((one, other) => one - other).map((number) => projectFile(folder, number));
}

/** What the folder says about its project. */
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

/** Null where there is none. */
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

function realFolder(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return resolve(folder);
  }
}
