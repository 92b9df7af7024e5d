/**
 * The two files of settings: the project's `.errand/config.json` and the user's `config.json`. Some keys are nested:
 * `limits.maxDepth`, `subagent.enabled`.
 */

import { realpath } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { type Json, jsonObjectIs } from "../../core/values/json.ts";
import type { Host } from "../host.ts";
import { type JsonObject, readJsonFile, writeJsonFile } from "./json-file.ts";

export type Scope = "project" | "user";

type ConfigHost = Pick<Host, "env" | "home" | "folder">;

/** The name of the project's file in messages, and in the record of what is trusted. */
export const PROJECT_CONFIG = ".errand/config.json";
const GROUPS: ReadonlySet<string> = new Set(["limits", "subagent"]);
const CONFIG_BYTES = 64 * 1024;

/** The folder of the user's own choices. It is outside of projects, because others may write in their folders. */
export function configFolder({ env, home }: Pick<Host, "env" | "home">): string {
  const chosen = env["XDG_CONFIG_HOME"] ?? "";
  return join(isAbsolute(chosen) ? chosen : join(home, ".config"), "errand");
}

function configPath(scope: Scope, host: ConfigHost): string {
  return scope === "project" ? join(host.folder, PROJECT_CONFIG) : join(configFolder(host), "config.json");
}

/** The name of the file in messages. */
export function configName(scope: Scope, host: ConfigHost): string {
  return scope === "project" ? PROJECT_CONFIG : configPath(scope, host);
}

/** The values of a file by their keys, not validated. */
export async function readConfig(scope: Scope, host: ConfigHost): Promise<ReadonlyMap<string, Json>> {
  return new Map(Object.entries(await readObject(scope, host)).flatMap(([key, value]) => spread(key, value)));
}

/** True if the project's file, or its folder, is a symlink. `folder` is the project's real path. */
export async function projectConfigLinked(folder: string): Promise<boolean> {
  const path = join(folder, PROJECT_CONFIG);
  return (await realpath(path).catch(() => path)) !== path;
}

/** Undefined removes the key. */
export async function writeConfig(
  scope: Scope,
  key: string,
  value: Json | undefined,
  host: ConfigHost & Pick<Host, "world">,
): Promise<void> {
  const held = await readObject(scope, host);
  const [group = "", name] = key.split(".");
  const inner = jsonObjectIs(held[group]) ? held[group] : {};
  const changed = name === undefined ? value : withKey(inner, name, value);
  const gone = changed === undefined || (name !== undefined && Object.keys(changed ?? {}).length === 0);
  await writeJsonFile(configPath(scope, host), withKey(held, group, gone ? undefined : changed), host.world);
}

async function readObject(scope: Scope, host: ConfigHost): Promise<JsonObject> {
  const path = configPath(scope, host);
  return (await readJsonFile(path, scope === "project" ? host.folder : undefined, CONFIG_BYTES)) ?? {};
}

function spread(key: string, value: Json): (readonly [string, Json])[] {
  if (!GROUPS.has(key) || !jsonObjectIs(value)) return [[key, value]];
  return Object.entries(value).map(([name, inner]) => [`${key}.${name}`, inner]);
}

function withKey(object: JsonObject, key: string, value: Json | undefined): JsonObject {
  const rest = Object.entries(object).filter(([known]) => known !== key);
  return Object.fromEntries(value === undefined ? rest : [...rest, [key, value]]);
}
