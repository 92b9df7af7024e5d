/**
 * The value of each setting: from the environment, else the project's file, else the user's file, else the default. An
 * option of the command overrides all of them. Pure.
 *
 * Invariants:
 *  1. A project's value that asks for something is used only if it is trusted, and is listed with what it asks for.
 *  2. An invalid value is an error; it is not replaced by the default.
 */

import { hash } from "node:crypto";
import type { Json } from "../../core/values/json.ts";
import { ErrandError } from "../../errors.ts";
import type { TrustItem } from "./trust-file.ts";
import { PROJECT_CONFIG } from "./config-file.ts";
import { type Setting, SETTINGS } from "./setting-table.ts";

/** A value of a setting, used or not. */
export interface SettingRow {
  readonly key: string;
  /** Null for none. */
  readonly value: Json;
  readonly from: "flag" | "environment" | "project" | "user" | "default";
  /** The flag, the variable or the file. */
  readonly where: string | null;
  /** False: the project's value asks for something, and is not trusted. */
  readonly used: boolean;
  /** What it asks for. */
  readonly asks: string | null;
}

export interface SettingSources {
  /** True if the project's file is reached by a symlink: then each of its values asks for trust. */
  readonly linked: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly project: ReadonlyMap<string, Json>;
  readonly user: ReadonlyMap<string, Json>;
  /** The user's permission rules for this folder (project-rules.ts). */
  readonly rules?: Json | undefined;
  /** The name of the user's file in messages. */
  readonly userFile: string;
  trusted(item: TrustItem): boolean;
}

/** For each setting the values that are not used, then the one that is. Of a joined setting several are used. */
export function resolveSettings(sources: SettingSources): readonly SettingRow[] {
  return SETTINGS.flatMap((setting) => {
    const rows = rowsOf(setting, sources);
    const used = rows.filter((row) => row.used);
    if (used.length === 0) used.push(rowOf(setting, setting.default, "default", null));
    return [...rows.filter((row) => !row.used), ...(setting.joined === true ? used : used.slice(0, 1))];
  });
}

/** How a project's value is recorded when it is trusted. */
export function settingItem(key: string, value: Json, asks: string): TrustItem {
  return { name: `${PROJECT_CONFIG}#${key}`, hash: hash("sha256", JSON.stringify(value)), for: [asks] };
}

/** What a project's value asks for; null if nothing. */
export function settingAsks(
  setting: Setting,
  value: Json,
  { linked, user }: Pick<SettingSources, "linked" | "user">,
): string | null {
  const own = user.get(setting.key);
  return setting.asks?.(value, own === undefined ? setting.default : own) ?? (linked ? "a symlinked file" : null);
}

/** All values that were given, the strongest first. */
function rowsOf(setting: Setting, sources: SettingSources): SettingRow[] {
  const { key, variable } = setting;
  const { env, project, user, rules, userFile, trusted } = sources;
  const rows: SettingRow[] = [];
  const typed = variable === undefined ? "" : (env[variable]?.trim() ?? "");
  if (variable !== undefined && typed !== "") rows.push(rowOf(setting, typed, "environment", variable));
  const given = project.get(key);
  if (given !== undefined) {
    const row = rowOf(setting, given, "project", PROJECT_CONFIG);
    const asks = settingAsks(setting, given, sources);
    rows.push({ ...row, asks, used: asks === null || trusted(settingItem(key, given, asks)) });
  }
  for (const own of [user.get(key), key === "permissions" ? rules : undefined])
    if (own !== undefined) rows.push(rowOf(setting, own, "user", userFile));
  return rows;
}

/** Throws if the value is invalid. */
function rowOf(setting: Setting, value: Json, from: SettingRow["from"], where: string | null): SettingRow {
  const { key } = setting;
  const problem = from === "default" ? null : setting.problem(value);
  if (problem === null) return { key, value, from, where, used: true, asks: null };
  const source = from === "environment" ? `the variable ${where}` : where;
  throw new ErrandError("config-invalid", `The setting ${key} in ${source} cannot be used: ${problem}`, {
    remedy: "Correct it with errand config set, or remove it with errand config unset.",
  });
}
