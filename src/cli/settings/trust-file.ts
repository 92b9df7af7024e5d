/**
 * What the user trusts: of each folder, the files and settings that ask for something, by the hash that they had then.
 * The record is in the user's own configuration folder.
 *
 * Invariants:
 *  1. A folder is known by its real path.
 *  2. A file or setting that is new, or has changed since it was trusted, is not trusted.
 */

import { realpathSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Json, jsonObjectIs } from "../../core/values/json.ts";
import type { Host } from "../host.ts";
import { configFolder } from "./config-file.ts";
import { invalidFile, readJsonFile, writeJsonFile } from "./json-file.ts";

/** A file or a setting of a folder that asks for trust. */
export interface TrustItem {
  /** A file's path in the folder; of a setting, the file and its key: `.errand/config.json#baseUrl`. */
  readonly name: string;
  /** SHA-256 of its text or value. */
  readonly hash: string;
  /** What it asks for. */
  readonly for: readonly string[];
}

/** Hashes by folder and by name. */
export type Trust = ReadonlyMap<string, ReadonlyMap<string, string>>;

type TrustHost = Pick<Host, "env" | "home" | "world">;

const VERSION = 1;

function trustPath(host: Pick<Host, "env" | "home">): string {
  return join(configFolder(host), "trust.json");
}

export async function readTrust(host: TrustHost): Promise<Trust> {
  const path = trustPath(host);
  const held = await readJsonFile(path);
  if (held === null) return new Map();
  if (held["version"] !== VERSION) throw invalidFile(path, "it is of another version of Errand");
  const folders = new Map<string, ReadonlyMap<string, string>>();
  for (const [folder, items] of Object.entries(objectOf(held["folders"], path))) {
    const hashes = new Map<string, string>();
    for (const [name, hash] of Object.entries(objectOf(items, path))) {
      if (typeof hash !== "string") throw invalidFile(path, `"${name}" of ${folder} is no hash`);
      hashes.set(name, hash);
    }
    folders.set(folder, hashes);
  }
  return folders;
}

export async function writeTrust(trust: Trust, host: TrustHost): Promise<void> {
  const folders = Object.fromEntries([...trust].map(([folder, items]) => [folder, Object.fromEntries(items)]));
  await writeJsonFile(trustPath(host), { version: VERSION, folders }, host.world);
}

/** Adds items to those that are trusted. */
export async function addTrust(folder: string, items: readonly TrustItem[], host: TrustHost): Promise<void> {
  const real = realFolder(folder);
  const trust = await readTrust(host);
  const held = new Map(trust.get(real));
  for (const { name, hash } of items) held.set(name, hash);
  await writeTrust(new Map(trust).set(real, held), host);
}

export function isTrusted(trust: Trust, folder: string, { name, hash }: Pick<TrustItem, "name" | "hash">): boolean {
  return trust.get(folder)?.get(name) === hash;
}

/** The real path of a folder; if it does not exist, its absolute path. */
export function realFolder(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return resolve(folder);
  }
}

function objectOf(value: Json | undefined, path: string): { readonly [key: string]: Json } {
  if (jsonObjectIs(value)) return value;
  throw invalidFile(path, "it does not say which folders are trusted");
}
