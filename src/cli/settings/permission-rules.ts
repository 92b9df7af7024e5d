/** Rules of permission as a configuration file holds them: a list of `{ decision, tool, path?, command? }`. */

import { type Json, jsonObjectIs } from "../../core/values/json.ts";
import { GLOB_LENGTH } from "../../core/text/glob.ts";
import type { PermissionRule } from "../../core/permissions/permissions.ts";

const KEYS: ReadonlySet<string> = new Set(["decision", "tool", "path", "command"]);

/** The rules, or what is wrong with them. */
export function permissionRules(value: Json): readonly PermissionRule[] | string {
  if (!Array.isArray(value)) return 'it is a list of rules such as [{"decision":"allow","tool":"write_file"}]';
  const rules: PermissionRule[] = [];
  for (const [index, given] of (value as readonly Json[]).entries()) {
    const rule = ruleOf(given);
    if (typeof rule === "string") return `rule ${index + 1}: ${rule}`;
    rules.push(rule);
  }
  return rules;
}

function ruleOf(value: Json): PermissionRule | string {
  if (!jsonObjectIs(value)) return "it is no object";
  const unknown = Object.keys(value).find((key) => !KEYS.has(key));
  if (unknown !== undefined) return `"${unknown}" is not known; a rule has ${[...KEYS].join(", ")}`;
  const { decision, tool, path, command } = value;
  if (decision !== "allow" && decision !== "ask" && decision !== "deny")
    return "its decision is neither allow, ask nor deny";
  if (typeof tool !== "string" || tool === "") return "its tool is neither a name nor *";
  if (path !== undefined && (typeof path !== "string" || path === "")) return "its path is no pattern";
  if (path !== undefined && path.length > GLOB_LENGTH) return `its path is longer than ${GLOB_LENGTH} characters`;
  const words = command === undefined ? undefined : wordsOf(command);
  if (words === null) return 'its command is no list of words, such as ["npm", "test"]';
  return {
    decision,
    tool,
    ...(path === undefined ? {} : { path }),
    ...(words === undefined ? {} : { command: words }),
  };
}

function wordsOf(value: Json): readonly string[] | null {
  if (!Array.isArray(value) || value.length === 0) return null;
  const words = (value as readonly Json[]).filter((word) => typeof word === "string" && word !== "");
  return words.length === value.length ? words.map(String) : null;
}
