/**
 * Permissions as data: which call of which tool is allowed, asked about, or denied. The kernel judges the path as the
 * model wrote it, and the real path that the edge found and recorded. The tool itself judges the file that it opened
 * (tools/workspace.ts).
 *
 * Invariants:
 *  1. In one list of rules, a deny that matches wins. Otherwise the most specific rule that matches decides: a rule
 *     with a pattern before one without, a named tool before `*`, a longer pattern before a shorter one. Between
 *     equals, ask wins over allow.
 *  2. If no rule of a list matches, DEFAULT_RULES decide: reading is allowed, everything else is asked about. Without
 *     any list, everything is allowed.
 *  3. In doubt a rule that restricts matches and a rule that allows does not (judged-path.ts, command-rules.ts). An
 *     allow must match the path as written and the real one; a rule that restricts needs only one of them.
 *  4. Joined lists must all agree: the strictest decides. Joining never allows more.
 *  5. An agent that may not read a file may not list, search or edit it. If a rule denies a path, a file with several
 *     names is asked about.
 *  6. A change of a configuration file (configuration-files.ts) is asked about, unless a rule allows exactly that file.
 *  7. A command that is allowed without a path is allowed in the workspace itself, and in no folder of it.
 *
 * A denied command does not stop an allowed program from starting it.
 */

import { type Json, jsonObjectIs } from "../values/json.ts";
import { commandAllowed, commandIsPrefix, commandRestricted, firstWords } from "./command-rules.ts";
import { createPathPattern, type JudgedPath, judgedPath, type PathPattern } from "./judged-path.ts";
import { configurationFileIs } from "./configuration-files.ts";

/** What a rule says of a call. */
export type Permission = "allow" | "ask" | "deny";

/** Says whether a call is allowed, asked about or denied. */
export interface PermissionRule {
  readonly decision: Permission;
  /** A tool's name, or `*`. */
  readonly tool: string;
  /** A glob over the call's `path` (or `folder`), from the workspace: `docs/**`, `*.md`. */
  readonly path?: string;
  /** The call's `argv`: `["npm", "test"]`. With `*` as its last word, more may follow. */
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

const READING: ReadonlySet<string> = new Set(["list_files", "search_text", "read_file"]);
/** Tools besides `read_file` that show the content or the name of a file. */
const ALSO_READING: ReadonlySet<string> = new Set(["list_files", "search_text", "edit_file"]);

/** What the edge found about the file or folder that a call names; recorded with the call. */
export interface FileFacts {
  /** The real path from the workspace, if it differs from the path as written. */
  readonly real?: string;
  /** True if the file has more than one name. */
  readonly linked?: true;
}

/** Judges the files of one tool by their real paths. */
export interface FileJudge {
  of(path: string, linked: boolean): Permission;
  /** Steps for a character of a path, at most. */
  readonly cost: number;
}

interface ReadyRule {
  readonly rule: PermissionRule;
  readonly pattern: PathPattern | null;
}

interface JudgedCall {
  readonly tool: string;
  readonly input: Json;
  readonly paths: readonly JudgedPath[];
  /** It changes a configuration file. */
  readonly configures: boolean;
  readonly linked: boolean;
}

export function permissionOf(permissions: Permissions, tool: string, input: Json, file: FileFacts = {}): Permission {
  if (permissions.length === 0) return "allow";
  const written = pathsOf(input);
  const call = judgedCall(tool, input, file.real === undefined ? written : [...written, file.real], file.linked);
  return strictestOf(permissions.map(readyRules), call);
}

export function createFileJudge(permissions: Permissions, tool: string): FileJudge {
  const lists = permissions.map(readyRules);
  return {
    of: (path, linked) =>
      lists.length === 0 ? "allow" : strictestOf(lists, judgedCall(tool, { path }, [path], linked)),
    cost: lists.flat().reduce((sum, { pattern }) => sum + (pattern?.cost ?? 0), 0),
  };
}

function readyRules(rules: readonly PermissionRule[]): readonly ReadyRule[] {
  return rules.map((rule) => ({ rule, pattern: rule.path === undefined ? null : createPathPattern(rule.path) }));
}

function judgedCall(tool: string, input: Json, paths: readonly string[], linked = false): JudgedCall {
  const configures = !READING.has(tool) && paths.some((path) => configurationFileIs(path.split("/")));
  return { tool, input, paths: paths.map(judgedPath), configures, linked };
}

function strictestOf(lists: readonly (readonly ReadyRule[])[], call: JudgedCall): Permission {
  return lists.map((rules) => decideByList(rules, call)).reduce(strictest, "allow");
}

/** Permissions that allow what both allow: for a child, its parent's and its own. */
export function joinPermissions(a: Permissions, b: Permissions): Permissions {
  const known = new Set(a.map((rules) => JSON.stringify(rules)));
  return [...a, ...b.filter((rules) => !known.has(JSON.stringify(rules)))];
}

function strictest(a: Permission, b: Permission): Permission {
  if (a === "deny" || b === "deny") return "deny";
  return a === "ask" || b === "ask" ? "ask" : "allow";
}

function decideByList(rules: readonly ReadyRule[], call: JudgedCall): Permission {
  const decided = ruleFor(rules, call) ?? ruleFor(readyRules(DEFAULT_RULES), call) ?? "ask";
  if (decided !== "allow") return decided;
  if (call.linked && rules.some(({ rule }) => rule.decision === "deny" && rule.path !== undefined)) return "ask";
  return call.configures && !rules.some((ready) => allowsExactly(ready, call)) ? "ask" : "allow";
}

function ruleFor(rules: readonly ReadyRule[], call: JudgedCall): Permission | null {
  let best: PermissionRule | null = null;
  for (const ready of rules) {
    const { rule } = ready;
    if (!ruleMatches(ready, call)) continue;
    if (rule.decision === "deny") return "deny";
    const order = best === null ? 1 : compareSpecificity(rule, best);
    if (order > 0 || (order === 0 && rule.decision === "ask")) best = rule;
  }
  return best?.decision ?? null;
}

function compareSpecificity(a: PermissionRule, b: PermissionRule): number {
  const other = specificity(b);
  const differences = specificity(a).map((value, index) => value - (other[index] ?? 0));
  return differences.find((difference) => difference !== 0) ?? 0;
}

function specificity({ tool, path, command = [] }: PermissionRule): readonly number[] {
  const patterns = (path === undefined ? 0 : 1) + (command.length === 0 ? 0 : 1);
  const literal = (path ?? "").replaceAll(/[*?[\]{}]/g, "").length;
  const exact = command.length > 0 && !commandIsPrefix(command) ? 1 : 0;
  return [patterns, tool === "*" ? 0 : 1, firstWords(command).length, exact, literal];
}

function ruleMatches({ rule, pattern }: ReadyRule, call: JudgedCall): boolean {
  if (!toolMatches(rule, call.tool)) return false;
  if (rule.decision !== "allow") {
    if (pattern !== null && !call.paths.some((path) => pattern.restricts(path))) return false;
    return rule.command === undefined || commandRestricted(rule.command, call.input);
  }
  if (pattern !== null && !call.paths.every((path) => pattern.allows(path))) return false;
  if (rule.command === undefined) return true;
  const inWorkspace = call.paths.every(({ names, plain }) => plain && names.length === 0);
  return (pattern !== null || inWorkspace) && commandAllowed(rule.command, call.input);
}

function toolMatches(rule: PermissionRule, tool: string): boolean {
  if (rule.tool === "*" || rule.tool === tool) return true;
  return rule.decision === "deny" && rule.tool === "read_file" && rule.path !== undefined && ALSO_READING.has(tool);
}

function allowsExactly(ready: ReadyRule, call: JudgedCall): boolean {
  const { rule, pattern } = ready;
  return rule.decision === "allow" && ruleMatches(ready, call) && call.paths.every((path) => pattern?.names(path));
}

/** The paths of the call. A call without a path concerns the whole workspace. */
function pathsOf(input: Json): readonly string[] {
  const named = jsonObjectIs(input) ? [input["path"], input["folder"]] : [];
  const paths = named.filter((path) => typeof path === "string").filter((path) => path !== "");
  return paths.length === 0 ? ["."] : paths;
}
