/** Rules that allow more than they seem to: programs that start others must not be allowed with any arguments. */

import type { Json } from "../../core/values/json.ts";
import { commandIsPrefix, firstWords } from "../../core/permissions/command-rules.ts";
import type { PermissionRule } from "../../core/permissions/permissions.ts";
import { permissionRules } from "./permission-rules.ts";

/** As docs/concepts/permissions.md lists them. */
const PROGRAMS =
  "ash awk bash bun busybox cargo chroot cmake csh curl dash deno doas docker ed emacs env ex find fish " +
  "flock gawk gdb gh git go gradle ionice java ksh kubectl less lua make man mawk more mvn nano nice ninja " +
  "node nohup npm npx parallel perl php pip pnpm podman pwsh python rsync ruby scp script sed setsid sftp sh " +
  "ssh stdbuf strace su sudo tar tclsh tcsh time timeout ts-node tsx unshare uv uvx vi vim watch wget xargs " +
  "yarn zip zsh";

export const RISKY_PROGRAMS: readonly string[] = PROGRAMS.split(" ");

/** A sentence for each rule that allows such a program by its first words. */
export function riskyRuleNotices(value: Json): readonly string[] {
  const rules = permissionRules(value);
  return typeof rules === "string" ? [] : rules.flatMap((rule) => noticeOf(rule) ?? []);
}

function noticeOf({ decision, command }: PermissionRule): string | null {
  if (decision !== "allow" || command === undefined || !commandIsPrefix(command)) return null;
  const [program] = firstWords(command);
  if (program === undefined) return 'a rule allows the command ["*"], which is every program';
  if (!RISKY_PROGRAMS.includes(nameOf(program))) return null;
  return `a rule allows ${JSON.stringify(command)}: ${program} can start any other program. Name the exact arguments, without "*"`;
}

/** `/usr/bin/python3.12` is `python`. */
function nameOf(program: string): string {
  return program
    .slice(program.lastIndexOf("/") + 1)
    .toLowerCase()
    .replace(/[\d.]*(?:\.exe)?$/, "");
}
