/** Permission rules in a configuration file: a list of `{ decision, tool, path?, command? }`. */

import { type Json, jsonObjectIs } from "../../core/values/json.ts";
import { commandIsPrefix, firstWords } from "../../core/permissions/command-rules.ts";
import { GLOB_LENGTH } from "../../core/text/glob.ts";
import type { PermissionRule } from "../../core/permissions/permissions.ts";

const KEYS: ReadonlySet<string> = new Set(["decision", "tool", "path", "command"]);

/** The rules, or why they are invalid. */
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

/** Programs that can start any other program. docs/concepts/permissions.md has the same list. */
const PROGRAMS =
  "ash awk bash bun busybox cargo chroot cmake csh curl dash deno doas docker ed emacs env ex find fish " +
  "flock gawk gdb gh git go gradle ionice java ksh kubectl less lua make man mawk more mvn nano nice ninja " +
  "node nohup npm npx parallel perl php pip pnpm podman pwsh python rsync ruby scp script sed setsid sftp sh " +
  "ssh stdbuf strace su sudo tar tclsh tcsh time timeout ts-node tsx unshare uv uvx vi vim watch wget xargs " +
  "yarn zip zsh";

export const RISKY_PROGRAMS: readonly string[] = PROGRAMS.split(" ");

/** A sentence for each rule that allows such a program with any arguments. */
export function riskyRuleNotices(value: Json): readonly string[] {
  const rules = permissionRules(value);
  return typeof rules === "string" ? [] : rules.flatMap((rule) => noticeOf(rule) ?? []);
}

function noticeOf({ decision, command }: PermissionRule): string | null {
  if (decision !== "allow" || command === undefined || !commandIsPrefix(command)) return null;
  const [program] = firstWords(command);
  if (program === undefined) return 'a rule allows the command ["*"], which is every program';
  if (!RISKY_PROGRAMS.includes(nameOf(program))) return null;
  const rule = JSON.stringify(command);
  return `a rule allows ${rule}: ${program} can start any other program. Name the exact arguments, without "*"`;
}

/** `/usr/bin/python3.12` is `python`. */
function nameOf(program: string): string {
  return program
    .slice(program.lastIndexOf("/") + 1)
    .toLowerCase()
    .replace(/[\d.]*(?:\.exe)?$/, "");
}
