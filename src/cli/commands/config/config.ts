/**
 * `errand config`, `config get KEY`, `config set KEY VALUE`, `config unset KEY`. With `--json` a line is
 * `{ type: "setting", key, value, from, where, used, asks, meaning }`.
 */

import type { Json } from "../../../core/values/json.ts";
import { ErrandError } from "../../../errors.ts";
import { storeName } from "../../../stores/store-url.ts";
import type { CommandAction, CommandCall } from "../../command.ts";
import type { JsonLine } from "../../display/json-types.ts";
import { jsonLine } from "../../display/jsonl.ts";
import { EXIT, type ExitCode } from "../../exit-code.ts";
import { configName, readConfig, type Scope, writeConfig } from "../../settings/config-file.ts";
import { resolveSettings, settingAsks, settingItem, type SettingRow } from "../../settings/resolve-settings.ts";
import { riskyRuleNotices } from "../../settings/permission-rules.ts";
import { NONE, type Setting, SETTINGS } from "../../settings/setting-table.ts";
import { readSources, unknownNotices } from "../../settings/settings.ts";
import { didYouMean } from "../../text/did-you-mean.ts";
import { tableLines } from "../../text/display-width.ts";
import { terminalLine } from "../../text/terminal-text.ts";
import { chooseScope, scopeName, type StoreScope } from "../../store/scope.ts";
import { addTrust } from "../../settings/trust-file.ts";

const ACTIONS = ["get", "set", "unset"];

export const configCommand: CommandAction = async (call) => {
  const [action, key, value] = call.args;
  if (action === undefined) return list(call);
  if (!ACTIONS.includes(action))
    throw usage(`"${action}" is nothing that config does${didYouMean(action, ACTIONS)}`, "errand config --help");
  if (key === undefined) throw usage(`config ${action} needs a key`, `errand config ${action} model`);
  const setting = settingNamed(key);
  if (action === "get") return get(setting, call);
  if (action === "unset") return unset(setting, call);
  if (value === undefined) throw usage(`config set ${key} needs a value`, `errand config set ${key} VALUE`);
  return set(setting, value, call);
};

/** The settings for this command line. */
async function rowsNow({ options, host }: CommandCall): Promise<readonly SettingRow[]> {
  const sources = await readSources(host);
  for (const notice of unknownNotices(sources)) host.err(`${terminalLine(notice)}\n`);
  const rows = resolveSettings(sources);
  for (const row of rows)
    for (const notice of row.key === "permissions" ? riskyRuleNotices(row.value) : [])
      host.err(`${terminalLine(`warning: ${row.where ?? "permissions"}: ${notice}`)}\n`);
  const useDatabaseUrl = rows.some(({ key, value, used }) => key === "useDatabaseUrl" && used && value === true);
  const scope = chooseScope(options.store, { store: null, useDatabaseUrl }, host);
  return rows.map((row) => (row.key === "store" ? storeRow(row, scope) : row));
}

/** The real source of the store, and its name without a password. `scope` is the store without the setting. */
function storeRow(row: SettingRow, scope: StoreScope): SettingRow {
  const typed = scope.kind === "named" && scope.from === "--store";
  if (row.used && (typed || row.from === "default")) {
    const [from, where] =
      scope.kind === "project" ? (["default", null] as const) : ([typed ? "flag" : "environment", scope.from] as const);
    return { ...row, value: scopeName(scope), from, where, used: true, asks: null };
  }
  return typeof row.value === "string" ? { ...row, value: storeName(row.value) } : row;
}

async function list(call: CommandCall): Promise<ExitCode> {
  const rows = await rowsNow(call);
  if (call.options.json === true) {
    for (const row of rows) call.host.out(jsonLine(record(row)));
    return EXIT.done;
  }
  const cells = rows.map((row) => [row.key, valueText(row.value), originText(row)].map(terminalLine));
  call.host.out(`${tableLines([["SETTING", "VALUE", "FROM"], ...cells]).join("\n")}\n`);
  return EXIT.done;
}

async function get({ key }: Setting, call: CommandCall): Promise<ExitCode> {
  const rows = (await rowsNow(call)).filter((row) => row.key === key);
  for (const row of rows) {
    if (call.options.json === true) call.host.out(jsonLine(record(row)));
    else if (row.used) call.host.out(`${terminalLine(valueText(row.value))}\n`);
    else call.host.err(`${terminalLine(`${valueText(row.value)}: ${originText(row)}`)}\n`);
  }
  return EXIT.done;
}

async function set(setting: Setting, given: string, call: CommandCall): Promise<ExitCode> {
  const { host } = call;
  const { key } = setting;
  const value = valueOf(setting, given);
  const problem = setting.problem(value);
  if (problem !== null) throw usage(`${key} cannot be ${JSON.stringify(given)}: ${problem}`, "errand config --help");
  const scope = scopeOf(call);
  await writeConfig(scope, key, value, host);
  const sources = { linked: false, user: await readConfig("user", host) };
  const asks = scope === "project" ? settingAsks(setting, value, sources) : null;
  // A user who types a value trusts it.
  if (asks !== null) await addTrust(host.folder, [settingItem(key, value, asks)], host);
  const shown = key === "store" && typeof value === "string" ? storeName(value) : valueText(value);
  return reportChange(call, key, `${key} is ${shown} in ${configName(scope, host)}`);
}

async function unset({ key }: Setting, call: CommandCall): Promise<ExitCode> {
  const { host } = call;
  const scope = scopeOf(call);
  const file = configName(scope, host);
  const held = await readConfig(scope, host);
  if (!held.has(key)) return reportChange(call, key, `${key} is not set in ${file}`);
  await writeConfig(scope, key, undefined, host);
  return reportChange(call, key, `${key} is no longer set in ${file}`);
}

/** Prints the change, and the effective value if it comes from elsewhere. */
async function reportChange(call: CommandCall, key: string, sentence: string): Promise<ExitCode> {
  const { host, options } = call;
  if (options.json !== true) host.out(`${terminalLine(sentence)}\n`);
  const rows = (await rowsNow(call)).filter((row) => row.key === key);
  if (options.json === true) for (const row of rows) host.out(jsonLine(record(row)));
  const elsewhere = rows.filter(({ used, from }) => used && from !== scopeOf(call));
  if (options.json === true || elsewhere.length === 0) return EXIT.done;
  const now = elsewhere.map((row) => `${valueText(row.value)} (${originText(row)})`);
  host.out(`${terminalLine(`what holds here is ${now.join(" and ")}`)}\n`);
  return EXIT.done;
}

function scopeOf({ options }: CommandCall): Scope {
  return options.global === true ? "user" : "project";
}

function settingNamed(key: string): Setting {
  const found = SETTINGS.find((setting) => setting.key === key);
  if (found !== undefined) return found;
  const keys = SETTINGS.map((setting) => setting.key);
  throw usage(`There is no setting "${key}"${didYouMean(key, keys)}`, "errand config");
}

/** The typed value as it is stored in a file. */
function valueOf({ type }: Setting, given: string): Json {
  const text = given.trim();
  if (text === NONE) return null;
  if (type === "json") return jsonOf(text);
  return type === "number" && text !== "" && Number.isFinite(Number(text)) ? Number(text) : text;
}

function jsonOf(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

function valueText(value: Json): string {
  if (value === null) return NONE;
  return typeof value === "string" ? value : JSON.stringify(value);
}

function originText({ from, where, used, asks }: SettingRow): string {
  if (!used) return `${where ?? ""}, not used: it asks for ${asks ?? ""}; errand trust`;
  return where === null ? from : `${from}: ${where}`;
}

function record(row: SettingRow): JsonLine {
  const meaning = SETTINGS.find(({ key }) => key === row.key)?.meaning ?? "";
  return { type: "setting", ...row, meaning };
}

function usage(message: string, example: string): ErrandError {
  return new ErrandError("usage", message, { remedy: `See ${example}` });
}
