/**
 * Permissions as data: which call of which tool is allowed, asked about, or denied.
 *
 * Invariants:
 *  1. In one list of rules, a deny that matches wins. Otherwise the most specific rule that matches decides: one with a pattern before
 *     one without, a named tool before `*`, a longer pattern before a shorter; of equals, ask before allow.
 *  2. What no rule of a list matches is decided by DEFAULT_RULES: reading is allowed, everything else is asked about. Where there is no
 *     list at all, nobody restricts anything.
 *  3. In doubt a rule that restricts matches and a rule that allows does not: an absolute path, a path that leads up, a shell.
 *  4. Lists that were joined by `narrower` must all agree: the strictest decides. What is joined never allows more.
 *
 * A pattern judges what the model wrote, not where a symlink leads: the tools' own border holds whatever is allowed here. A denied
 * command is a sign, not a wall: a program that is allowed may start another.
 */

import type { Json } from "../json.ts";
import { jsonObjectIs } from "../json.ts";
import { createGlob } from "./glob.ts";

export type Permission = "allow" | "ask" | "deny";

export interface PermissionRule {
  readonly decision: Permission;
  /** A tool's name, or `*`. */
  readonly tool: string;
  /** A glob over the call's `path` (or `folder`), from the workspace: `docs/**`, `*.md`. */
  readonly path?: string;
  /** The first words of the call's `argv`: `["git", "status"]`. */
  readonly command?: readonly string[];
}

/** Lists of rules that must all agree. */
export type Permissions = readonly (readonly PermissionRule[])[];

const DEFAULT_RULES: readonly PermissionRule[] = [
  { decision: "allow", tool: "list_files" },
  { decision: "allow", tool: "search_text" },
  { decision: "allow", tool: "read_file" },
  { decision: "ask", tool: "*" },
];

export function permissionOf(permissions: Permissions, tool: string, input: Json): Permission {
  return permissions
    .map((rules) => decideByList(rules, tool, input) ?? decideByList(DEFAULT_RULES, tool, input) ?? "ask")
    .reduce<Permission>(strictest, "allow");
}

/** What both allow: for a child, of its parent's permissions and its own. */
export function narrower(a: Permissions, b: Permissions): Permissions {
  const known = new Set(a.map((rules) => JSON.stringify(rules)));
  return [...a, ...b.filter((rules) => !known.has(JSON.stringify(rules)))];
}

function strictest(a: Permission, b: Permission): Permission {
  if (a === "deny" || b === "deny") return "deny";
  return a === "ask" || b === "ask" ? "ask" : "allow";
}

function decideByList(rules: readonly PermissionRule[], tool: string, input: Json): Permission | null {
  let best: PermissionRule | null = null;
  for (const rule of rules) {
    if (!ruleMatches(rule, tool, input)) continue;
    if (rule.decision === "deny") return "deny";
    const order = best === null ? 1 : compareSpecificity(rule, best);
    if (order > 0 || (order === 0 && rule.decision === "ask")) best = rule;
  }
  return best?.decision ?? null;
}

function compareSpecificity(a: PermissionRule, b: PermissionRule): number {
  const left = specificity(a);
  const right = specificity(b);
  for (const [index, value] of left.entries()) {
    const other = right[index] ?? 0;
    if (value !== other) return value - other;
  }
  return 0;
}

function specificity({ tool, path, command }: PermissionRule): readonly number[] {
  const patterns = (path === undefined ? 0 : 1) + (command === undefined ? 0 : 1);
  const literal = (path ?? "").replaceAll(/[*?[\]{}]/g, "").length;
  return [patterns, tool === "*" ? 0 : 1, command?.length ?? 0, literal];
}

function ruleMatches(rule: PermissionRule, tool: string, input: Json): boolean {
  if (rule.tool !== "*" && rule.tool !== tool) return false;
  const allows = rule.decision === "allow";
  if (rule.path !== undefined && !pathMatches(rule.path, pathOf(input), allows)) return false;
  return rule.command === undefined || commandMatches(rule.command, input, allows);
}

/** What the call is about; a call that names no path is about the whole workspace. */
function pathOf(input: Json): string {
  if (!jsonObjectIs(input)) return ".";
  const given = input["path"] ?? input["folder"];
  return typeof given === "string" && given !== "" ? given : ".";
}

function pathMatches(pattern: string, path: string, allows: boolean): boolean {
  const glob = createGlob(pattern);
  const names: string[] = [];
  let certain = !path.startsWith("/") && !path.includes("\\") && !path.includes("\0");
  for (const name of path.split("/")) {
    if (name === "" || name === ".") continue;
    if (name !== "..") names.push(name);
    // Behind a symlink, `a/..` is not where it seems to be.
    else if (names.pop() === undefined || allows) certain = false;
  }
  if (allows) return certain && glob.matches(names.join("/") || ".");
  if (certain) return glob.matches(names.join("/") || ".");
  return names.some((_, index) => glob.matches(names.slice(index).join("/")));
}

function commandMatches(words: readonly string[], input: Json, allows: boolean): boolean {
  const given = jsonObjectIs(input) ? input["argv"] : undefined;
  const argv = Array.isArray(given) ? given.filter((item) => typeof item === "string") : [];
  if (allows) {
    const shell = jsonObjectIs(input) && input["shell"] !== undefined && input["shell"] !== false;
    return !shell && argv.length > 0 && startsWith(argv, words);
  }
  // A shell, and programs that start others, hide a command among words: it counts wherever it stands.
  const spread = argv.flatMap((item) => item.split(/[\s;&|()`$<>"'{}]+/).filter((word) => word !== ""));
  return [argv, spread].some((list) => list.some((_, index) => startsWith(bare(list.slice(index)), words)));
}

/** `/usr/bin/rm -r` is `rm -r`. */
function bare(argv: readonly string[]): readonly string[] {
  return argv.map((word, index) => (index === 0 ? word.slice(word.lastIndexOf("/") + 1) : word));
}

function startsWith(argv: readonly string[], words: readonly string[]): boolean {
  return words.every((word, index) => argv[index] === word);
}
