/**
 * Where each setting comes from: the environment, then the project's file, then the user's, then the default. A flag of the command goes
 * before all of them. Pure.
 *
 * Invariants:
 *  1. A value of the project that asks for something is not used unless it is trusted, and is listed with what it asks for.
 *  2. A value that is wrong is an error, not a default.
 */

import { hash } from "node:crypto";
import type { Json } from "../../core/values/json.ts";
import { ErrandError } from "../../errors.ts";
import type { TrustItem } from "./trust-file.ts";
import { PROJECT_CONFIG } from "./config-file.ts";
import { type Setting, SETTINGS } from "./setting-table.ts";

/** A setting as it holds, or as it would if it were trusted. */
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
  /** True if the project's file is reached by a symlink: then every value of it asks for trust. */
  readonly linked: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly project: ReadonlyMap<string, Json>;
  readonly user: ReadonlyMap<string, Json>;
  /** The user's rules for this folder (project-rules.ts). */
  readonly rules?: Json | undefined;
  /** The user's file, as it is named to people. */
  readonly userFile: string;
  trusted(item: TrustItem): boolean;
}

/** For each setting the row that holds, behind those that are not used; of one that is joined, several hold. */
export function resolveSettings(sources: SettingSources): readonly SettingRow[] {
  return SETTINGS.flatMap((setting) => {
    const { key } = setting;
    const rows = [variableRow(setting, sources), ...fileRows(setting, sources)].filter((row) => row !== null);
    const held = rows.filter((row) => row.used);
    const kept = setting.joined === true ? held : held.slice(0, 1);
    const unused = rows.filter((row) => !row.used);
    if (kept.length > 0) return [...unused, ...kept];
    return [...unused, { key, value: setting.default, from: "default", where: null, used: true, asks: null } as const];
  });
}

/** What a project's value is in the record of what is trusted. */
export function settingItem(key: string, value: Json, asks: string): TrustItem {
  return { name: `${PROJECT_CONFIG}#${key}`, hash: hash("sha256", JSON.stringify(value)), for: [asks] };
}

/** What a project's value asks for; null when nothing. */
export function settingAsks(
  setting: Setting,
  value: Json,
  { linked, user }: Pick<SettingSources, "linked" | "user">,
): string | null {
  const held = user.get(setting.key);
  const own = held === undefined ? setting.default : held;
  return setting.asks?.(value, { own }) ?? (linked ? "a symlinked file" : null);
}

function variableRow(setting: Setting, { env }: SettingSources): SettingRow | null {
  const { key, variable } = setting;
  const value = variable === undefined ? "" : (env[variable]?.trim() ?? "");
  if (variable === undefined || value === "") return null;
  requireGood(setting, value, `the variable ${variable}`);
  return { key, value, from: "environment", where: variable, used: true, asks: null };
}

function fileRows(setting: Setting, sources: SettingSources): (SettingRow | null)[] {
  const { key } = setting;
  const own = sources.user.get(key);
  const given = sources.project.get(key);
  const rules = key === "permissions" ? sources.rules : undefined;
  if (rules !== undefined) requireGood(setting, rules, sources.userFile);
  if (own !== undefined) requireGood(setting, own, sources.userFile);
  if (given !== undefined) requireGood(setting, given, PROJECT_CONFIG);
  const asks = given === undefined ? null : settingAsks(setting, given, sources);
  const used = given !== undefined && (asks === null || sources.trusted(settingItem(key, given, asks)));
  return [
    given === undefined ? null : { key, value: given, from: "project", where: PROJECT_CONFIG, used, asks },
    own === undefined ? null : { key, value: own, from: "user", where: sources.userFile, used: true, asks: null },
    rules === undefined ? null : { key, value: rules, from: "user", where: sources.userFile, used: true, asks: null },
  ];
}

function requireGood(setting: Setting, value: Json, where: string): void {
  const problem = setting.problem(value);
  if (problem === null) return;
  throw new ErrandError("config-invalid", `The setting ${setting.key} in ${where} cannot be used: ${problem}`, {
    remedy: "errand config set and errand config unset mend it.",
  });
}
