/**
 * Permission rules that the user chose for one folder, by answering a question with "always in this project". They are
 * in the user's own configuration, by the folder's real path, because others may write in the folder itself:
 * `{ "projects": { "/home/me/app": { "permissions": [ … ] } } }`.
 */

import { type Json, jsonObjectIs } from "../../core/values/json.ts";
import type { PermissionRule } from "../../core/permissions/permissions.ts";
import type { Host } from "../host.ts";
import { problemOf } from "../problem.ts";
import { terminalLine } from "../text/terminal-text.ts";
import { realFolder } from "./trust-file.ts";
import { configName, readConfig, writeConfig } from "./config-file.ts";

export const PROJECTS = "projects";

/** The rules for a folder, not validated; undefined if there are none. */
export function projectRules(user: ReadonlyMap<string, Json>, folder: string): Json | undefined {
  const projects = user.get(PROJECTS);
  const held = jsonObjectIs(projects) && Object.hasOwn(projects, folder) ? projects[folder] : undefined;
  return jsonObjectIs(held) ? held["permissions"] : undefined;
}

/** Saves a rule for the current folder. Returns what to tell the user: where it is, or why it was not saved. */
export async function keepProjectRule(host: Host, rule: PermissionRule): Promise<string> {
  try {
    const user = await readConfig("user", host);
    const folder = realFolder(host.folder);
    const held = projectRules(user, folder);
    const rules = Array.isArray(held) ? (held as readonly Json[]) : [];
    const text = JSON.stringify(rule);
    if (!rules.some((known) => JSON.stringify(known) === text)) {
      const projects = user.get(PROJECTS);
      const others = jsonObjectIs(projects) ? projects : {};
      const inner = jsonObjectIs(others[folder]) ? others[folder] : {};
      const permissions = [...rules, JSON.parse(text) as Json];
      await writeConfig("user", PROJECTS, { ...others, [folder]: { ...inner, permissions } }, host);
    }
    return `always allowed in this project: ${terminalLine(configName("user", host))}`;
  } catch (thrown) {
    return `the rule was not kept: ${terminalLine(problemOf(thrown).message)}`;
  }
}
