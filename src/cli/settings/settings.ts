/** The settings that commands work with, read from the files of the user and of the current folder. */

import type { LimitChoices } from "../../core/values/limits.ts";
import type { PermissionRule } from "../../core/permissions/permissions.ts";
import type { Host } from "../host.ts";
import { didYouMean } from "../text/did-you-mean.ts";
import { readTrust, realFolder, type TrustItem, trustHolds } from "./trust-file.ts";
import { configName, PROJECT_CONFIG, projectConfigLinked, readConfig } from "./config-file.ts";
import { PROJECTS, projectRules } from "./project-rules.ts";
import { permissionRules } from "./permission-rules.ts";
import { resolveSettings, settingAsks, settingItem, type SettingRow, type SettingSources } from "./resolve-settings.ts";
import { SETTINGS } from "./setting-table.ts";

export interface Settings {
  /** Of agents whose definition names none; null when nobody chose. */
  readonly model: { readonly name: string; readonly where: string } | null;
  readonly baseUrl: string | null;
  readonly store: string | null;
  /** True: the database of DATABASE_URL is the store. */
  readonly useDatabaseUrl: boolean;
  readonly timeoutSeconds: number | null;
  /** Undefined when nobody chose; null for ever. */
  readonly retentionDays: number | null | undefined;
  readonly subagentEnabled: boolean;
  readonly limits: LimitChoices;
  /** Those of the folder and of the user, as one list. */
  readonly permissions: readonly PermissionRule[];
  /** What a person should know: keys that are not known, values that are not used. */
  readonly notices: readonly string[];
}

/** When nobody chose anything. */
export const NO_SETTINGS: Settings = {
  model: null,
  baseUrl: null,
  store: null,
  useDatabaseUrl: false,
  timeoutSeconds: null,
  retentionDays: undefined,
  subagentEnabled: true,
  limits: {},
  permissions: [],
  notices: [],
};

export async function readSettings(host: Host): Promise<Settings> {
  const sources = await readSources(host);
  const rows = resolveSettings(sources);
  const chosen = rows.filter(({ used, from }) => used && from !== "default");
  const value = (key: string): unknown => chosen.find((row) => row.key === key)?.value;
  const text = (key: string): string | null => textOf(value(key));
  const days = value("retentionDays");
  const limits = chosen.filter(({ key }) => key.startsWith("limits.")).map((row) => [row.key.slice(7), row.value]);
  const rules = chosen.filter(({ key }) => key === "permissions").map((row) => permissionRules(row.value));
  return {
    model: modelOf(chosen.find(({ key }) => key === "model")),
    baseUrl: text("baseUrl"),
    store: text("store"),
    useDatabaseUrl: value("useDatabaseUrl") === true,
    timeoutSeconds: numberOf(value("timeout")),
    retentionDays: days === null ? null : (numberOf(days) ?? undefined),
    subagentEnabled: value("subagent.enabled") !== false,
    limits: Object.fromEntries(limits) as LimitChoices,
    permissions: rules.flatMap((list) => (typeof list === "string" ? [] : list)),
    notices: [...unknownNotices(sources), ...trustNotices(rows)],
  };
}

export async function readSources(host: Host): Promise<SettingSources> {
  const [project, user, folder] = await Promise.all([
    readConfig("project", host),
    readConfig("user", host),
    realFolder(host.folder),
  ]);
  const trust = project.size === 0 ? new Map<string, never>() : await readTrust(host);
  return {
    linked: project.size > 0 && (await projectConfigLinked(folder)),
    env: host.env,
    project,
    user: new Map([...user].filter(([key]) => key !== PROJECTS)),
    rules: projectRules(user, folder),
    userFile: configName("user", host),
    trusted: (item: TrustItem) => trustHolds(trust, folder, item),
  };
}

/** What of a project's settings asks for trust, as it is now. */
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

function modelOf(row: SettingRow | undefined): Settings["model"] {
  return typeof row?.value === "string" ? { name: row.value, where: row.where ?? "a setting" } : null;
}

function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

function numberOf(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}
