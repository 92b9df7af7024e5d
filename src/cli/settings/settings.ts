/** The settings of a command, read from the files of the user and of the current folder. */

import type { LimitChoices } from "../../core/values/limits.ts";
import type { PermissionRule } from "../../core/permissions/permissions.ts";
import type { Host } from "../host.ts";
import { didYouMean } from "../text/did-you-mean.ts";
import { readTrust, type TrustItem, isTrusted, realFolder } from "./trust-file.ts";
import { configName, PROJECT_CONFIG, projectConfigLinked, readConfig } from "./config-file.ts";
import { PROJECTS, projectRules } from "./project-rules.ts";
import { permissionRules } from "./permission-rules.ts";
import { resolveSettings, settingAsks, settingItem, type SettingRow, type SettingSources } from "./resolve-settings.ts";
import { SETTINGS } from "./setting-table.ts";

export interface Settings {
  /** The model of agents whose definition names none; null if none was chosen. */
  readonly model: { readonly name: string; readonly where: string } | null;
  readonly baseUrl: string | null;
  readonly store: string | null;
  /** True: the store is the database of DATABASE_URL. */
  readonly useDatabaseUrl: boolean;
  readonly timeoutSeconds: number | null;
  /** Undefined if it is not set; null: trees are kept without limit. */
  readonly retentionDays: number | null | undefined;
  readonly subagentEnabled: boolean;
  readonly limits: LimitChoices;
  /** The rules of the folder and of the user. */
  readonly permissions: readonly PermissionRule[];
  /** Notices for the user: unknown keys, values that are not used. */
  readonly notices: readonly string[];
}

export const NO_SETTINGS: Settings = settingsOf([], []);

export async function readSettings(host: Host): Promise<Settings> {
  const sources = await readSources(host);
  const rows = resolveSettings(sources);
  return settingsOf(rows, [...unknownNotices(sources), ...trustNotices(rows)]);
}

function settingsOf(rows: readonly SettingRow[], notices: readonly string[]): Settings {
  const chosen = rows.filter(({ used, from }) => used && from !== "default");
  const rowOf = (key: string): SettingRow | undefined => chosen.find((row) => row.key === key);
  const text = (key: string): string | null => {
    const value = rowOf(key)?.value;
    return typeof value === "string" ? value : null;
  };
  const number = (key: string): number | null | undefined => {
    const value = rowOf(key)?.value;
    return typeof value === "number" || value === null ? value : undefined;
  };
  const model = text("model");
  const limits = SETTINGS.flatMap(({ key, limit }) => {
    const value = number(key);
    return limit === undefined || value === undefined ? [] : [[limit, value] as const];
  });
  const rules = chosen.filter(({ key }) => key === "permissions").map((row) => permissionRules(row.value));
  return {
    model: model === null ? null : { name: model, where: rowOf("model")?.where ?? "a setting" },
    baseUrl: text("baseUrl"),
    store: text("store"),
    useDatabaseUrl: rowOf("useDatabaseUrl")?.value === true,
    timeoutSeconds: number("timeout") ?? null,
    retentionDays: number("retentionDays"),
    subagentEnabled: rowOf("subagent.enabled")?.value !== false,
    limits: Object.fromEntries(limits),
    permissions: rules.flatMap((list) => (typeof list === "string" ? [] : list)),
    notices,
  };
}

export async function readSources(host: Host): Promise<SettingSources> {
  const [project, user] = await Promise.all([readConfig("project", host), readConfig("user", host)]);
  const folder = realFolder(host.folder);
  const trust = project.size === 0 ? new Map<string, never>() : await readTrust(host);
  return {
    linked: project.size > 0 && (await projectConfigLinked(folder)),
    env: host.env,
    project,
    user: new Map([...user].filter(([key]) => key !== PROJECTS)),
    rules: projectRules(user, folder),
    userFile: configName("user", host),
    trusted: (item: TrustItem) => isTrusted(trust, folder, item),
  };
}

/** The values of a project's settings that ask for trust. */
export async function settingItemsOf(host: Host): Promise<readonly TrustItem[]> {
  const sources = await readSources(host);
  return SETTINGS.flatMap((setting) => {
    const value = sources.project.get(setting.key);
    const asks = value === undefined ? null : settingAsks(setting, value, sources);
    return value === undefined || asks === null ? [] : [settingItem(setting.key, value, asks)];
  });
}

export function unknownNotices({ project, user, userFile }: SettingSources): string[] {
  const keys = SETTINGS.map(({ key }) => key);
  return [
    ...[...project.keys()].map((key) => [key, PROJECT_CONFIG] as const),
    ...[...user.keys()].map((key) => [key, userFile] as const),
  ]
    .filter(([key]) => !keys.includes(key))
    .map(([key, file]) => `"${key}" in ${file} is no setting${didYouMean(key, keys)}`);
}

function trustNotices(rows: readonly SettingRow[]): string[] {
  const unused = rows.filter(({ used }) => !used);
  if (unused.length === 0) return [];
  const keys = unused.map(({ key }) => key).join(", ");
  return [`${unused[0]?.where ?? ""} sets ${keys}, which is not used before you trust this folder: errand trust`];
}
